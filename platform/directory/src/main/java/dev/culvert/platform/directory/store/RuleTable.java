package dev.culvert.platform.directory.store;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.store.Rows;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Rules, and decisions by them. Every method runs in the caller's transaction and blocks. */
final class RuleTable {
    private static final JsonMapper JSON = new JsonMapper();

    private final DirectoryLimits limits;
    private final LongAdder parsed = new LongAdder();

    RuleTable(DirectoryLimits limits) {
        this.limits = limits;
    }

    /** The rules of an account as they are stored. */
    static List<String> documents(Connection connection, String account) throws SQLException {
        return Rows.list(connection, row -> row.getString(1),
                "SELECT document FROM rules WHERE account = ? ORDER BY entity, id", account);
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

    /** Parses rules. Needs no database. Throws {@link StoreException.Failed} for one that can't be read. */
    List<Rule> parse(List<String> documents) {
        List<Rule> rules = new ArrayList<>();
        for (String document : documents) {
            parsed.increment();
            try {
                rules.add(JSON.readValue(document, Rule.class));
            } catch (JsonProcessingException e) {
                throw new StoreException.Failed(
                        "the database holds a rule that can't be read (expected: one that this version wrote)",
                        e);
            }
        }
        return rules;
    }

    /** The number of documents that were parsed. */
    long parsed() {
        return parsed.sum();
    }

    private static String text(Rule rule) throws SQLException {
        try {
            return JSON.writeValueAsString(rule);
        } catch (JsonProcessingException e) {
            throw new SQLException("records of strings always render", e);
        }
    }
}
