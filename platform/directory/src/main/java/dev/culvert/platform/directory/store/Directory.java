package dev.culvert.platform.directory.store;

import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.platform.host.spi.Events;
import dev.culvert.platform.host.spi.RuntimeKeys;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.spi.Store.Work;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Stores accounts, users, API keys, teams and rules, and tells their changes in the platform's feed. Every
 * operation fails with {@link StoreException}: Absent, Conflict, Full for the request; Busy, Held, Failed for
 * the database. Callable from any thread.
 */
public final class Directory {
    /** The maximum number of uses of keys that are being stored. */
    private static final int MAX_STORED_USES = 100;

    private final Store store;
    private final Events events;
    private final AccountEnds ends;
    private final Clock clock;
    private final PeopleTable people;
    private final KeyTable keys;
    private final RuleTable rules;
    private final SigningKeys signing;
    private final List<ChangeListener> listeners = new CopyOnWriteArrayList<>();
    /** The keys whose use is being stored. */
    private final Set<String> storedUses = ConcurrentHashMap.newKeySet();

    /**
     * @param ends told of each account that is deleted
     * @param signing the keys of runtime tokens
     */
    public Directory(Store store, Events events, AccountEnds ends, DirectoryLimits limits, Clock clock,
            SigningKeys signing) {
        this.signing = signing;
        this.store = store;
        this.events = events;
        this.ends = ends;
        this.clock = clock;
        this.people = new PeopleTable(limits);
        this.keys = new KeyTable(limits);
        this.rules = new RuleTable(limits);
    }

    /** Stores the first key. Called on the database's thread; may block. */
    @FunctionalInterface
    public interface FirstKey {
        void keep(KeyText key);
    }

    /**
     * Creates the first account with its administrator, who is also the operator. {@code keep} stores the
     * key; when it fails nothing is created. Does nothing when an account exists. Completes empty.
     */
    public Mono<Void> bootstrap(String accountName, FirstKey keep) {
        return write(connection -> {
            if (!PeopleTable.accounts(connection).isEmpty()) {
                return false;
            }
            Account account = people.addAccount(connection, Id.create(), accountName);
            User admin = people.addUser(connection,
                    new User(Id.create(), account.id(), "admin", "admin@localhost", true, true));
            keep.keep(issue(connection, account.id(), admin.id(), null, "first", null).text());
            return true;
        }).then();
    }

    /**
     * Gives an operator a new API key, and makes an operator if there is none. {@code keep} stores the key;
     * when it fails nothing is changed. The number of keys has no bound here: whoever fills an account with
     * keys must not keep its operator out.
     */
    public Mono<Recovery> recover(FirstKey keep) {
        return write(connection -> {
            User found = PeopleTable.operator(connection);
            User operator = found == null ? newOperator(connection) : found;
            int others = KeyTable.operators(connection, now()).size();
            IssuedKey key = issued(operator.account(), operator.id(), null, "recovered", null);
            KeyTable.insert(connection, key);
            events.add(connection, operator.account(), "key", operator.id());
            keep.keep(key.text());
            return new Recovery(operator, key.key().id(), found == null, others);
        });
    }

    /**
     * What a recovery did.
     *
     * @param key the id of the new API key
     * @param isNew whether the operator was made
     * @param others the number of other valid keys of operators
     */
    public record Recovery(User operator, String key, boolean isNew, int others) {}

    private User newOperator(Connection connection) throws SQLException {
        List<Account> present = PeopleTable.accounts(connection);
        Account account = present.isEmpty()
                ? people.addAccount(connection, Id.create(), "main")
                : present.getFirst();
        String id = Id.create();
        User operator = people.addUser(connection,
                new User(id, account.id(), "operator", "operator-" + id + "@localhost", true, true));
        events.add(connection, account.id(), "user", id);
        return operator;
    }

    /** The holder of a presented key; empty when the key is unknown or has expired. */
    public Mono<KeyOwner> holder(String text) {
        KeyText presented = KeyText.parse(text);
        return presented == null
                ? Mono.empty()
                : read(connection -> Optional.ofNullable(KeyTable.holder(connection, presented, now())))
                        .flatMap(Mono::justOrEmpty)
                        .doOnNext(holder -> {
                            if (holder.key().isUseStale(now())) {
                                used(holder.key());
                            }
                        });
    }

    /**
     * Stores that a key was used. Nobody waits for it: it would wait for other changes of the account. What
     * can't be stored now is stored at the next use.
     */
    private void used(StoredKey key) {
        if (storedUses.size() >= MAX_STORED_USES || !storedUses.add(key.id())) {
            return;
        }
        write(key.account(), connection -> {
            KeyTable.used(connection, key.id(), now());
            return key;
        }).doFinally(end -> storedUses.remove(key.id())).onErrorComplete(StoreException.class).subscribe();
    }

    /**
     * Issues a short-lived token that identifies the user to one runtime. It is valid for nothing else, and
     * ends with the API key that it is made with. Errors: Absent when the account has no such runtime; {@link
     * WrappingException}.
     */
    public Mono<RuntimeTokens.Issued> issueToken(KeyOwner owner, String runtime, int seconds) {
        StoredKey key = owner.key();
        String user = key.user();
        if (user == null) {
            return Mono.error(new StoreException.Absent("a runtime's key is nobody's"));
        }
        return read(connection -> {
            if (!KeyTable.hasRuntime(connection, key.account(), runtime, now())) {
                throw new StoreException.Absent("there is no such runtime");
            }
            return Optional.ofNullable(TokenKeyTable.signing(connection, now()));
        }).flatMap(signs -> signing.unwrap(signs.orElse(null)))
                .switchIfEmpty(Mono.error(() -> new StoreException.Busy("no key signs runtime tokens yet")))
                .map(secret -> {
                    long issued = now();
                    long most = issued + seconds;
                    long expires = key.expires() == null ? most : Math.min(most, key.expires());
                    return RuntimeTokens.issue(secret, new RuntimeTokens.Claims(key.account(), user, key.id(),
                            runtime, issued, expires));
                });
    }

    /**
     * The owner of a token presented by a runtime; empty when it is for another runtime, expired, not a token
     * of this control plane, or made with an API key that is revoked or expired. Errors: {@link
     * WrappingException}.
     */
    public Mono<RuntimeTokens.Known> tokenOf(String account, String runtime, String text) {
        RuntimeTokens.Presented presented = RuntimeTokens.parse(text);
        return presented == null
                ? Mono.empty()
                : signing.unwrap(presented.kid()).flatMap(key -> {
                    RuntimeTokens.Claims said = RuntimeTokens.verify(presented, key.secret(), now());
                    return said == null || !said.account().equals(account) || !said.runtime().equals(runtime)
                            ? Mono.empty()
                            : read(connection -> Optional
                                    .ofNullable(known(connection, presented.kid(), said)))
                                    .flatMap(Mono::justOrEmpty);
                });
    }

    private RuntimeTokens.@Nullable Known known(Connection connection, String kid,
            RuntimeTokens.Claims said) throws SQLException {
        if (!TokenKeyTable.verifies(connection, kid, said.issued(), now())) {
            return null;
        }
        User user = KeyTable.userOf(connection, said, now());
        return user == null ? null : new RuntimeTokens.Known(user, said.expires());
    }

    public Mono<List<Account>> accounts() {
        return read(PeopleTable::accounts);
    }

    public Mono<Account> account(String id) {
        return read(connection -> Optional.ofNullable(PeopleTable.account(connection, id)))
                .flatMap(Mono::justOrEmpty)
                .switchIfEmpty(Mono.error(() -> new StoreException.Absent("there is no such account")));
    }

    public Mono<Account> addAccount(String id, String name) {
        return write(connection -> people.addAccount(connection, id, name));
    }

    /**
     * Deletes an account with all that modules keep for it. Emits the URLs of its runtimes, by name, which
     * have no key any more. Errors: Conflict for the account of operators.
     */
    public Mono<Map<String, String>> removeAccount(String id) {
        return tellingChange(id, "account", null, store.change(connection -> {
            PeopleTable.requireRemovable(connection, id);
            Map<String, String> urls = KeyTable.urls(connection, id);
            ends.ended(connection, id);
            PeopleTable.removeAccount(connection, id);
            events.add(connection, id, "account", null);
            return urls;
        }));
    }

    public Mono<List<User>> users(String account) {
        return read(connection -> PeopleTable.users(connection, account));
    }

    /** The ids of an account's administrators, the first 100. */
    public Mono<List<String>> admins(String account) {
        return read(connection -> PeopleTable.admins(connection, account));
    }

    public Mono<User> addUser(String account, String name, String email, boolean admin) {
        return change(account, "user", null, connection -> people.addUser(connection,
                new User(Id.create(), account, name, email, admin, false)));
    }

    /**
     * Removes a user. Errors: Conflict if no operator would have a valid key any more, unless {@code force}.
     */
    public Mono<Void> removeUser(String account, String id, boolean force) {
        return tellingChange(account, "user", id, keepingOperators(account, id, force, connection -> {
            PeopleTable.removeUser(connection, account, id);
            events.add(connection, account, "user", id);
            return id;
        })).then();
    }

    /**
     * A change that ends keys, of all accounts if they are an operator's. Whether they are never changes for
     * a user or a key.
     *
     * @param id of the user or the key
     */
    private <T> Mono<T> keepingOperators(String account, String id, boolean force, Work<T> change) {
        return isOperators(account, id).flatMap(isOperators -> isOperators
                ? write(connection -> {
                    boolean had = hasOperatorKey(connection);
                    T result = change.run(connection);
                    requireOperatorKey(connection, had && !force);
                    return result;
                })
                : write(account, change));
    }

    /** Whether {@code id} is an operator of this account, or an operator's key. */
    public Mono<Boolean> isOperators(String account, String id) {
        return read(connection -> PeopleTable.isOperators(connection, account, id));
    }

    public Mono<List<Team>> teams(String account) {
        return read(connection -> PeopleTable.teams(connection, account));
    }

    public Mono<Team> addTeam(String account, String name, List<String> members) {
        return change(account, "team", null,
                connection -> people.addTeam(connection, account, new Team(Id.create(), name, members)));
    }

    public Mono<Void> removeTeam(String account, String id) {
        return change(account, "team", null, connection -> {
            PeopleTable.removeTeam(connection, account, id);
            return id;
        }).then();
    }

    /** Adds a user to a team, or removes the user. */
    public Mono<Void> setMember(String account, String team, String user, boolean member) {
        return change(account, "team", user, connection -> {
            if (member) {
                PeopleTable.addMember(connection, account, team, user);
            } else {
                PeopleTable.removeMember(connection, account, team, user);
            }
            return team;
        }).then();
    }

    public Mono<List<StoredKey>> keys(String account) {
        return read(connection -> KeyTable.keys(connection, account));
    }

    /** Issues a key to a user or a runtime: one of them is null. */
    public Mono<IssuedKey> addKey(String account, @Nullable String user, @Nullable String runtime,
            String name,
            @Nullable Long expires) {
        return change(account, "key", user, connection -> {
            if (user != null && PeopleTable.user(connection, account, user) == null) {
                throw new StoreException.Absent("there is no such user");
            }
            return issue(connection, account, user, runtime, name, expires);
        });
    }

    /**
     * Revokes a key, which is refused from now on. Errors: Conflict if no operator would have a valid key any
     * more, unless {@code force}.
     */
    public Mono<StoredKey> removeKey(String account, String id, boolean force) {
        return keepingOperators(account, id, force, connection -> {
            StoredKey gone = KeyTable.remove(connection, account, id);
            events.add(connection, account, "key", gone.user());
            return gone;
        });
    }

    private boolean hasOperatorKey(Connection connection) throws SQLException {
        return !KeyTable.operators(connection, now()).isEmpty();
    }

    private void requireOperatorKey(Connection connection, boolean required) throws SQLException {
        if (required && !hasOperatorKey(connection)) {
            throw new StoreException.Conflict("it is the last valid API key of an operator (expected: another"
                    + " one made first with POST /api/keys; with ?force=true only culvert control-plane"
                    + " recover gives access again)");
        }
    }

    /**
     * When the last operator loses access, in seconds since 1970; empty while an operator has a key that does
     * not expire, or none has a key.
     */
    public Mono<Long> operatorsAccessEnds() {
        return read(connection -> {
            List<StoredKey> keys = KeyTable.operators(connection, now());
            return keys.stream().anyMatch(key -> key.expires() == null)
                    ? Optional.<Long>empty()
                    : keys.stream().map(StoredKey::expires).filter(Objects::nonNull).max(Long::compare);
        }).flatMap(Mono::justOrEmpty);
    }

    public Mono<List<Rule>> rules(String account) {
        return read(connection -> RuleTable.documents(connection, account))
                .flatMap(documents -> Mono.fromCallable(() -> rules.parse(documents))
                        .subscribeOn(Schedulers.boundedElastic()));
    }

    /** The number of rules that were parsed, for tests of what a decision costs. */
    long parsedRules() {
        return rules.parsed();
    }

    /** What decides about a user; empty if the account has no such user. Always emits a value. */
    public Mono<Optional<Membership>> membership(String account, String user) {
        return read(connection -> {
            User found = PeopleTable.user(connection, account, user);
            return Optional.ofNullable(found == null
                    ? null
                    : new Membership(found.admin(),
                            found.admin() ? Set.of() : PeopleTable.teamsOf(connection, user)));
        });
    }

    public Mono<Rule> addRule(String account, Rule rule) {
        return change(account, "rule", null, connection -> rules.add(connection, account, rule));
    }

    public Mono<Void> removeRule(String account, String id) {
        return change(account, "rule", null, connection -> {
            RuleTable.remove(connection, account, id);
            return id;
        }).then();
    }

    public Mono<Changes> changes(String account, long since) {
        return read(connection -> Changes.of(events.since(connection, account, since)));
    }

    /**
     * Sets the URL of a runtime. Emits whether the URL is new. Errors: Busy less than a minute after a
     * change.
     */
    public Mono<Boolean> reached(String account, String runtime, String url) {
        return write(account, connection -> KeyTable.reached(connection, account, runtime, url, now()));
    }

    /** The URL of one runtime; empty if it has registered none. */
    public Mono<String> url(String account, String runtime) {
        return read(connection -> Optional.ofNullable(KeyTable.url(connection, account, runtime)))
                .flatMap(Mono::justOrEmpty);
    }

    public Mono<Map<String, String>> urls(String account) {
        return read(connection -> KeyTable.urls(connection, account));
    }

    /** The keys of runtimes, for the module that creates runtimes. */
    public RuntimeKeys runtimeKeys() {
        return new KeysOfRuntimes();
    }

    /** Deletes the keys of a deleted runtime, and its URL. Blocks. */
    public void runtimeEnded(Connection change, String account, String runtime) throws SQLException {
        KeyTable.removeRuntime(change, account, runtime);
        events.add(change, account, "key", null);
    }

    private final class KeysOfRuntimes implements RuntimeKeys {
        @Override
        public void add(Connection change, String account, String runtime, String text) throws SQLException {
            KeyText key = KeyText.parse(text);
            if (key == null) {
                throw new IllegalArgumentException("not a key (expected: an enrolment token)");
            }
            add(change, account, runtime, key);
        }

        @Override
        public String create(Connection change, String account, String runtime) throws SQLException {
            KeyText key = KeyText.create();
            add(change, account, runtime, key);
            return key.reveal();
        }

        private void add(Connection change, String account, String runtime, KeyText key) throws SQLException {
            keys.add(change, new IssuedKey(
                    new StoredKey(key.id(), account, null, runtime, "runtime", now(), null, null), key));
            events.add(change, account, "key", null);
        }
    }

    private IssuedKey issue(Connection connection, String account, @Nullable String user,
            @Nullable String runtime, String name, @Nullable Long expires) throws SQLException {
        IssuedKey issued = issued(account, user, runtime, name, expires);
        keys.add(connection, issued);
        return issued;
    }

    private IssuedKey issued(String account, @Nullable String user, @Nullable String runtime, String name,
            @Nullable Long expires) {
        KeyText text = KeyText.create();
        return new IssuedKey(new StoredKey(text.id(), account, user, runtime, name, now(), expires, null),
                text);
    }

    private <T> Mono<T> read(Work<T> work) {
        return store.read(work);
    }

    private <T> Mono<T> write(Work<T> work) {
        return store.change(work);
    }

    private <T> Mono<T> write(String account, Work<T> work) {
        return store.change(account, work);
    }

    /** Seconds since 1970. */
    public long now() {
        return clock.instant().getEpochSecond();
    }

    private <T> Mono<T> change(String account, String what, @Nullable String user, Work<T> work) {
        return tellingChange(account, what, user, write(account, connection -> {
            T result = work.run(connection);
            events.add(connection, account, what, user);
            return result;
        }));
    }

    /**
     * Told of each change of this process before its caller is, and also of one that failed, which may have
     * happened. The feed tells those of other processes, and those whose caller left.
     */
    @FunctionalInterface
    public interface ChangeListener {
        void changed(String account, String what, @Nullable String user);
    }

    /** Adds a listener. It must not block. */
    public void onChange(ChangeListener listener) {
        listeners.add(listener);
    }

    private <T> Mono<T> tellingChange(String account, String what, @Nullable String user, Mono<T> change) {
        return change.doOnTerminate(
                () -> listeners.forEach(listener -> listener.changed(account, what, user)));
    }
}
