package dev.culvert.server.access;

import dev.culvert.http.net.Cidr;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.Admission;
import dev.culvert.relay.Caller;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.Verdict;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Applies a runtime's rules: finds the rule for a request, and asks its admission. */
final class RuntimeAdmission implements Admission {
    private static final Admission PASS = (request, verdict) -> {
        verdict.pass(null);
        return DECIDED;
    };
    private static final Admission DENY = (request, verdict) -> {
        verdict.refuse(refusal("this path is closed"));
        return DECIDED;
    };

    /** The admission of a runtime without rules, on a server that closes such runtimes. */
    static final Admission CLOSED = (request, verdict) -> {
        verdict.refuse(refusal("this runtime has no access rules, and is closed without them"));
        return DECIDED;
    };

    private final AccessRules rules;
    private final List<Door> doors;
    /** The fields that only an admission may set, normalised by {@link #alike}. */
    private final Set<String> reserved;

    private record Door(RulePath path, List<Cidr> addresses, Admission admission) {}

    /** @param admissions makes admissions for requirements other than none and deny */
    RuntimeAdmission(AccessRules rules, Function<Requirement, Admission> admissions) {
        this.rules = rules;
        this.doors = rules.rules()
                .stream()
                .map(rule -> new Door(rule.segments(), rule.addresses(), switch (rule.require()) {
                    case Requirement.None none -> PASS;
                    case Requirement.Deny deny -> DENY;
                    case Requirement other -> admissions.apply(other);
                }))
                .toList();
        this.reserved = reserved(rules);
    }

    private static Set<String> reserved(AccessRules rules) {
        List<String> names = new ArrayList<>(
                List.of("culvert-caller-subject", "culvert-caller-certificate"));
        for (AccessRule rule : rules.rules()) {
            if (rule.require() instanceof Requirement.ForwardAuth service) {
                names.addAll(service.responseFields());
            }
        }
        // Credentials prove nothing by themselves, so callers may send them unless a service sets them.
        names.removeAll(List.of("authorization", "cookie"));
        return names.stream().map(RuntimeAdmission::alike).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public Runnable admit(RelayRequest request, Verdict verdict) {
        CallerPath path = CallerPath.of(String.valueOf(request.fields().path()));
        Door door = door(path.raw());
        if (!rules.rules().isEmpty() && (path.isDevious() || !Objects.equals(door(path.lenient()), door))) {
            verdict.refuse(refusal("this path can be read in two ways, and not all of them are open to you"));
            return DECIDED;
        }
        if (door == null && !rules.rules().isEmpty()) {
            verdict.refuse(refusal("no access rule opens this path"));
            return DECIDED;
        }
        if (!comesFrom(request.caller(), rules.addresses())
                || (door != null && !comesFrom(request.caller(), door.addresses))) {
            verdict.refuse(refusal("this can't be called from your address"));
            return DECIDED;
        }
        if (door == null) {
            return PASS.admit(request, verdict);
        }
        removeReserved(request.fields());
        return door.admission.admit(request, verdict);
    }

    private @Nullable Door door(List<String> segments) {
        Door longest = null;
        for (Door door : doors) {
            if (door.path.covers(segments) && (longest == null
                    || door.path.segments().size() > longest.path.segments().size())) {
                longest = door;
            }
        }
        return longest;
    }

    private static boolean comesFrom(Caller caller, List<Cidr> blocks) {
        return blocks.isEmpty()
                || (caller.address() != null && AccessRules.contain(blocks, caller.address()));
    }

    /**
     * Removes reserved fields, also with underscores for hyphens: a CGI gateway treats both names as the
     * same.
     */
    private void removeReserved(Http2Headers fields) {
        List<CharSequence> found = new ArrayList<>(0);
        for (CharSequence name : fields.names()) {
            if (reserved.contains(alike(name))) {
                found.add(name);
            }
        }
        found.forEach(fields::remove);
    }

    private static String alike(CharSequence name) {
        return name.toString().replace('_', '-');
    }

    private static Problem refusal(String detail) {
        return Problem.of(Cause.NOT_ALLOWED, Hop.EDGE, detail);
    }
}
