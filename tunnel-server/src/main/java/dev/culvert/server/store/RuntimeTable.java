package dev.culvert.server.store;

import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeScope;
import dev.culvert.server.runtime.StoredToken;
import dev.culvert.store.StoreException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All runtimes and tokens, in memory. Any thread may read without locks. Only the store's thread changes the
 * table, so a check and the change after it need no lock either. After the store has ended its changes,
 * another thread may change the table.
 */
final class RuntimeTable {
    private static final Logger log = LoggerFactory.getLogger(RuntimeTable.class);

    private final StoreLimits limits;
    private final Map<String, RegisteredRuntime> byHost = new ConcurrentHashMap<>();
    private final Map<String, RegisteredRuntime> byId = new ConcurrentHashMap<>();
    private final Map<String, RegisteredRuntime> byIdentity = new ConcurrentHashMap<>();
    private final ConcurrentSkipListMap<RuntimeName, RegisteredRuntime> byName = new ConcurrentSkipListMap<>();
    /** The ids of the runtimes whose callers are asked for client certificates. */
    private final Set<String> asking = ConcurrentHashMap.newKeySet();
    private final Map<String, StoredToken> tokens = new ConcurrentHashMap<>();

    RuntimeTable(StoreLimits limits) {
        this.limits = limits;
    }

    /** Whether the callers of any runtime are asked for client certificates. */
    boolean asksForCertificates() {
        return !asking.isEmpty();
    }

    private void noteAsking(RegisteredRuntime runtime) {
        if (runtime.access().asksForCertificates()) {
            asking.add(runtime.id());
        } else {
            asking.remove(runtime.id());
        }
    }

    @Nullable
    RegisteredRuntime byHost(String host) {
        return byHost.get(host);
    }

    @Nullable
    RegisteredRuntime byId(String id) {
        return byId.get(id);
    }

    @Nullable
    RegisteredRuntime byIdentity(String identity) {
        return byIdentity.get(identity);
    }

    @Nullable
    RegisteredRuntime byName(RuntimeName name) {
        return byName.get(name);
    }

    List<RegisteredRuntime> runtimes() {
        return List.copyOf(byName.values());
    }

    List<RegisteredRuntime> runtimes(RuntimeScope scope, @Nullable RuntimeName after, int limit) {
        return (after == null ? byName : byName.tailMap(after, false)).values()
                .stream()
                .filter(scope::covers)
                .limit(limit)
                .toList();
    }

    /** The runtime that the call which creates this one has created before, or null. */
    @Nullable
    RegisteredRuntime repeated(RegisteredRuntime wanted) {
        RegisteredRuntime known = byName.get(wanted.name());
        return known != null && known.origin() != null && known.origin().equals(wanted.origin())
                ? known
                : null;
    }

    /** Throws when a new runtime can't have {@code first} as its token. */
    void checkFirst(StoredToken first) {
        if (tokens.containsKey(first.id())) {
            throw new StoreException.Conflict("there is another enrolment token with this id");
        }
    }

    @Nullable
    StoredToken token(String id) {
        return tokens.get(id);
    }

    /** Throws when {@code runtime} can't be added. */
    void check(RegisteredRuntime runtime) {
        if (byId.size() >= limits.maxRuntimes()) {
            throw new StoreException.Full(
                    "this server has its " + limits.maxRuntimes() + " runtimes; delete one first");
        }
        if (byName.containsKey(runtime.name())) {
            throw new StoreException.Conflict("the runtime " + runtime.name() + " exists already");
        }
        checkHost(runtime.host(), runtime);
        checkHosts(runtime);
    }

    /** Throws when {@code runtime} can't have its custom hosts. */
    void checkHosts(RegisteredRuntime runtime) {
        if (runtime.hosts().size() > limits.maxHosts()) {
            throw new InvalidNameException("hosts", runtime.hosts().size() + " (expected: at most "
                    + limits.maxHosts() + " custom hosts)");
        }
        runtime.hosts().forEach(host -> checkHost(host, runtime));
    }

    /** Throws when {@code token} can't be added. Spent tokens take no room. */
    void check(StoredToken token, Instant now) {
        if (!byId.containsKey(token.runtimeId())) {
            throw new StoreException.Absent("the token's runtime was deleted");
        }
        long held = tokensOf(token.runtimeId()).filter(other -> !other.isSpent(now)).count();
        if (held >= limits.maxTokens()) {
            throw new StoreException.Full("the runtime has " + held
                    + " enrolment tokens already (expected: at most " + limits.maxTokens()
                    + "); use one of them, or wait until one expires");
        }
    }

    /**
     * The oldest spent tokens of a runtime, beyond as many as it may have usable ones. They can be deleted.
     */
    List<StoredToken> forgettable(String runtimeId, Instant now) {
        List<StoredToken> spent = tokensOf(runtimeId).filter(token -> token.isSpent(now))
                .sorted(Comparator.comparing(StoredToken::expires))
                .toList();
        return spent.subList(0, Math.max(0, spent.size() - limits.maxTokens()));
    }

    private Stream<StoredToken> tokensOf(String runtimeId) {
        return tokens.values().stream().filter(token -> token.runtimeId().equals(runtimeId));
    }

    /** Adds a runtime. A custom host that belongs to another runtime meanwhile stays with that runtime. */
    void add(RegisteredRuntime runtime) {
        noteAsking(runtime);
        byId.put(runtime.id(), runtime);
        byIdentity.put(runtime.identity(), runtime);
        byName.put(runtime.name(), runtime);
        byHost.put(runtime.host(), runtime);
        for (String host : runtime.hosts()) {
            if (byHost.putIfAbsent(host, runtime) != null) {
                log.atWarn()
                        .addKeyValue("runtime", runtime.name())
                        .addKeyValue("host", host)
                        .log("custom host belongs to another runtime");
            }
        }
    }

    /** Replaces a runtime by itself with another identity, and removes the tokens of the old one. */
    void revoke(RegisteredRuntime before, RegisteredRuntime after) {
        byIdentity.remove(before.identity());
        removeTokens(before);
        replace(after);
    }

    /** Replaces a runtime by itself, with the same names and hosts. */
    void replace(RegisteredRuntime after) {
        noteAsking(after);
        byHost.replaceAll((host, runtime) -> runtime.id().equals(after.id()) ? after : runtime);
        byName.put(after.name(), after);
        byId.put(after.id(), after);
        byIdentity.put(after.identity(), after);
    }

    /** Replaces a runtime by itself with other custom hosts. Hosts that it keeps are always found. */
    void replaceHosts(RegisteredRuntime after) {
        byHost.put(after.host(), after);
        after.hosts().forEach(host -> byHost.put(host, after));
        byHost.values()
                .removeIf(
                        runtime -> runtime.id().equals(after.id()) && !runtime.hosts().equals(after.hosts()));
        byName.put(after.name(), after);
        byId.put(after.id(), after);
        byIdentity.put(after.identity(), after);
    }

    void remove(RegisteredRuntime runtime) {
        asking.remove(runtime.id());
        byHost.remove(runtime.host(), runtime);
        runtime.hosts().forEach(host -> byHost.remove(host, runtime));
        byName.remove(runtime.name());
        byId.remove(runtime.id());
        byIdentity.remove(runtime.identity());
        removeTokens(runtime);
    }

    private void removeTokens(RegisteredRuntime runtime) {
        tokens.values().removeIf(token -> token.runtimeId().equals(runtime.id()));
    }

    void put(StoredToken token) {
        tokens.put(token.id(), token);
    }

    void forget(List<StoredToken> spent) {
        spent.forEach(token -> tokens.remove(token.id()));
    }

    /** Removes the tokens that expired before {@code epochMillis}. */
    void purgeTokens(long epochMillis) {
        tokens.values().removeIf(token -> token.expires().toEpochMilli() < epochMillis);
    }

    private void checkHost(String host, RegisteredRuntime owner) {
        RegisteredRuntime taken = byHost.get(host);
        if (taken != null && !taken.id().equals(owner.id())) {
            throw new StoreException.Conflict("the host " + host + " belongs to the runtime " + taken.name());
        }
    }
}
