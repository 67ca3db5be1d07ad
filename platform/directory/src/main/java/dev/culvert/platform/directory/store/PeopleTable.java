package dev.culvert.platform.directory.store;

import dev.culvert.store.Rows;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Accounts, users and teams. Every method runs in the caller's transaction and blocks. */
final class PeopleTable {
    private static final String USER = "SELECT id, account, name, email, admin, operator FROM users WHERE ";

    private final DirectoryLimits limits;

    PeopleTable(DirectoryLimits limits) {
        this.limits = limits;
    }

    static List<Account> accounts(Connection connection) throws SQLException {
        return Rows.list(connection, row -> new Account(row.getString(1), row.getString(2)),
                "SELECT id, name FROM accounts ORDER BY name");
    }

    static @Nullable Account account(Connection connection, String id) throws SQLException {
        return Rows.first(connection, row -> new Account(row.getString(1), row.getString(2)),
                "SELECT id, name FROM accounts WHERE id = ?", id);
    }

    Account addAccount(Connection connection, String id, String name) throws SQLException {
        requireRoom(Rows.count(connection, "SELECT count(*) FROM accounts"), limits.maxAccounts(),
                "accounts");
        requireNone(connection, "the account " + name,
                "SELECT 1 FROM accounts WHERE name = ? OR id = ?", name,
                id);
        Rows.update(connection, "INSERT INTO accounts VALUES (?, ?)", id, name);
        return new Account(id, name);
    }

    /** Throws {@link StoreException} if there is no such account, or if it has an operator. */
    static void requireRemovable(Connection connection, String id) throws SQLException {
        requireOne(account(connection, id) == null ? 0 : 1, "account");
        if (Rows.count(connection, "SELECT count(*) FROM users WHERE account = ? AND operator <> 0",
                id) > 0) {
            throw new StoreException.Conflict("the account has an operator (expected: an account without)");
        }
    }

    /** Deletes an account with its users, keys, teams and rules. */
    static void removeAccount(Connection connection, String id) throws SQLException {
        Rows.update(connection, "DELETE FROM accounts WHERE id = ?", id);
    }

    static List<String> admins(Connection connection, String account) throws SQLException {
        return Rows.list(connection, row -> row.getString(1),
                "SELECT id FROM users WHERE account = ? AND admin = 1 ORDER BY id LIMIT 100", account);
    }

    static List<User> users(Connection connection, String account) throws SQLException {
        return Rows.list(connection, PeopleTable::user, USER + "account = ? ORDER BY name, id", account);
    }

    static @Nullable User user(Connection connection, String account, String id) throws SQLException {
        return Rows.first(connection, PeopleTable::user, USER + "account = ? AND id = ?", account, id);
    }

    /** An operator; null without one. */
    static @Nullable User operator(Connection connection) throws SQLException {
        return Rows.first(connection, PeopleTable::user, USER + "operator <> 0 ORDER BY id LIMIT 1");
    }

    User addUser(Connection connection, User user) throws SQLException {
        requireRoom(
                Rows.count(connection, "SELECT count(*) FROM users WHERE account = ?", user.account()),
                limits.maxUsers(), "users");
        requireNone(connection, "a user with that e-mail address",
                "SELECT 1 FROM users WHERE account = ? AND email = ?", user.account(), user.email());
        Rows.update(connection, "INSERT INTO users VALUES (?, ?, ?, ?, ?, ?)", user.id(),
                user.account(),
                user.name(), user.email(), user.admin() ? 1 : 0, user.operator() ? 1 : 0);
        return user;
    }

    static void removeUser(Connection connection, String account, String id) throws SQLException {
        requireOne(Rows.update(connection, "DELETE FROM users WHERE account = ? AND id = ?",
                account, id),
                "user");
    }

    static boolean isOperators(Connection connection, String account, String id) throws SQLException {
        return Rows.count(connection, "SELECT count(*) FROM users WHERE account = ? AND operator <> 0"
                + " AND (id = ? OR id = (SELECT \"user\" FROM api_keys WHERE id = ?))", account, id, id) > 0;
    }

    static List<Team> teams(Connection connection, String account) throws SQLException {
        List<Team> bare = Rows.list(connection,
                row -> new Team(row.getString(1), row.getString(2), List.of()),
                "SELECT id, name FROM teams WHERE account = ? ORDER BY name", account);
        List<Team> whole = new ArrayList<>();
        for (Team team : bare) {
            whole.add(new Team(team.id(), team.name(), Rows.list(connection, row -> row.getString(1),
                    "SELECT \"user\" FROM team_members WHERE team = ? ORDER BY \"user\"", team.id())));
        }
        return whole;
    }

    /** The ids of a user's teams. */
    static Set<String> teamsOf(Connection connection, String user) throws SQLException {
        return Set.copyOf(Rows.list(connection, row -> row.getString(1),
                "SELECT team FROM team_members WHERE \"user\" = ?", user));
    }

    Team addTeam(Connection connection, String account, Team team) throws SQLException {
        requireRoom(Rows.count(connection, "SELECT count(*) FROM teams WHERE account = ?", account),
                limits.maxTeams(), "teams");
        requireNone(connection, "the team " + team.name(),
                "SELECT 1 FROM teams WHERE account = ? AND name = ?",
                account, team.name());
        Rows.update(connection, "INSERT INTO teams VALUES (?, ?, ?)", team.id(), account,
                team.name());
        for (String member : team.members()) {
            addMember(connection, account, team.id(), member);
        }
        return team;
    }

    static void removeTeam(Connection connection, String account, String id) throws SQLException {
        requireOne(Rows.update(connection, "DELETE FROM teams WHERE account = ? AND id = ?",
                account, id),
                "team");
    }

    static void addMember(Connection connection, String account, String team, String user)
            throws SQLException {
        requireTeam(connection, account, team);
        if (user(connection, account, user) == null) {
            throw new StoreException.Absent("there is no such user");
        }
        Rows.update(connection, "INSERT INTO team_members VALUES (?, ?) ON CONFLICT DO NOTHING", team, user);
    }

    static void removeMember(Connection connection, String account, String team, String user)
            throws SQLException {
        requireTeam(connection, account, team);
        requireOne(Rows.update(connection, "DELETE FROM team_members WHERE team = ? AND \"user\" = ?",
                team, user), "member");
    }

    static void requireTeam(Connection connection, String account, String id) throws SQLException {
        requireOne(Rows.list(connection, row -> 1, "SELECT 1 FROM teams WHERE account = ? AND id = ?",
                account, id)
                .size(), "team");
    }

    /** Throws {@link StoreException.Absent} if no row was changed. */
    static void requireOne(int rows, String what) {
        if (rows == 0) {
            throw new StoreException.Absent("there is no such " + what);
        }
    }

    /** Throws {@link StoreException.Full} at the limit. */
    static void requireRoom(long present, int max, String what) {
        if (present >= max) {
            throw new StoreException.Full("there are " + max + " " + what + " already; delete one first");
        }
    }

    private static void requireNone(Connection connection, String what, String sql, Object... values)
            throws SQLException {
        if (Rows.first(connection, row -> 1, sql, values) != null) {
            throw new StoreException.Conflict(what + " exists already");
        }
    }

    private static User user(ResultSet row) throws SQLException {
        return new User(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
                row.getInt(5) != 0,
                row.getInt(6) != 0);
    }
}
