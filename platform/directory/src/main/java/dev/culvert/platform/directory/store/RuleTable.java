package dev.culvert.platform.directory.store;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.store.Rows;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Rules, and decisions by them. Every method runs in the caller's transaction and blocks. */
final class RuleTable {
    private static final JsonMapper JSON = new JsonMapper();

    private final DirectoryLimits limits;

    RuleTable(DirectoryLimits limits) {
        this.limits = limits;
    }

    static List<Rule> rules(Connection connection, String account) throws SQLException {
        return read(Rows.list(connection, row -> row.getString(1),
                "SELECT document FROM rules WHERE account = ? ORDER BY entity, id", account));
    }

    Rule add(Connection connection, String account, Rule rule) throws SQLException {
        PeopleTable.requireRoom(
                Rows.count(connection, "SELECT count(*) FROM rules WHERE account = ?", account),
                limits.maxRules(), "rules");
        for (String team : rule.teams()) {
            PeopleTable.requireTeam(connection, account, team);
        }
        for (String user : rule.users()) {
            if (PeopleTable.user(connection, account, user) == null) {
                throw new StoreException.Absent("there is no such user");
            }
        }
        Rows.update(connection, "INSERT INTO rules VALUES (?, ?, ?, ?)", rule.id(), account,
                rule.entity(), text(rule));
        return rule;
    }

    static void remove(Connection connection, String account, String id) throws SQLException {
        PeopleTable.requireOne(Rows.update(connection,
                "DELETE FROM rules WHERE account = ? AND id = ?", account, id), "rule");
    }

    /** Decides a query. Administrators may do anything; other users need a rule. */
    static Decision decide(Connection connection, String account, AccessQuery question) throws SQLException {
        User user = PeopleTable.user(connection, account, question.user());
        if (user == null) {
            return new Decision(false, "there is no such user in the account");
        }
        if (user.admin()) {
            return new Decision(true, "administrators may do everything");
        }
        if (!KnownActions.ACTIONS.contains(question.action())
                || !KnownActions.ENTITIES.contains(question.entity())) {
            return new Decision(false, "no rule can allow an unknown action or entity");
        }
        Set<String> teams = PeopleTable.teamsOf(connection, user.id());
        List<Rule> rules = read(Rows.list(connection, row -> row.getString(1),
                "SELECT document FROM rules WHERE account = ? AND entity = ?", account, question.entity()));
        return rules.stream()
                .filter(rule -> rule.allows(question, teams))
                .findFirst()
                .map(rule -> new Decision(true, "rule " + rule.id() + " allows it"))
                .orElseGet(() -> new Decision(false, "no rule allows " + question.action() + " on "
                        + question.entity() + " here"));
    }

    private static List<Rule> read(List<String> documents) throws SQLException {
        List<Rule> rules = new ArrayList<>();
        for (String document : documents) {
            try {
                rules.add(JSON.readValue(document, Rule.class));
            } catch (JsonProcessingException e) {
                throw new SQLException(
                        "it holds a rule that can't be read (expected: one that this version wrote)",
                        e);
            }
        }
        return rules;
    }

    private static String text(Rule rule) throws SQLException {
        try {
            return JSON.writeValueAsString(rule);
        } catch (JsonProcessingException e) {
            throw new SQLException("records of strings always render", e);
        }
    }
}
