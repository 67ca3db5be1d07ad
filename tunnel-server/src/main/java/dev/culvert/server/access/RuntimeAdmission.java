package dev.culvert.server.access;

import dev.culvert.http.net.Cidr;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.Admission;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.Verdict;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    static final String WITHOUT_RULES = "this runtime has no access rules, and is closed without them";

    /** The admission of a runtime without rules, on a server that closes such runtimes. */
    static final Admission CLOSED = (request, verdict) -> {
        verdict.refuse(refusal(WITHOUT_RULES));
        return DECIDED;
    };

    private static final Choice OPEN = new Choice.Open();

    private final AccessRules rules;
    /** The admissions of the rules, in their order. */
    private final List<Admission> admissions;
    private final List<Choice.Applies> choices;
    /** The fields that only an admission may set, normalised by {@link #alike}. */
    private final Set<String> reserved;

    /** What the rules say of a request, before anything is asked of its caller. */
    sealed interface Choice {
        /** It is refused. */
        record Refused(String detail) implements Choice {}

        /** There are no rules for paths, and its address is right. */
        record Open() implements Choice {}

        /** A rule applies. */
        record Applies(AccessRule rule, RulePath path, int index) implements Choice {}
    }

    /** @param made makes admissions for requirements other than none and deny */
    RuntimeAdmission(AccessRules rules, Function<Requirement, Admission> made) {
        this.rules = rules;
        this.admissions = rules.rules().stream().map(rule -> switch (rule.require()) {
            case Requirement.None none -> PASS;
            case Requirement.Deny deny -> DENY;
            case Requirement other -> made.apply(other);
        }).toList();
        this.choices = choices(rules);
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
        return switch (choose(rules, choices, String.valueOf(request.fields().path()),
                request.caller().address())) {
            case Choice.Refused refused -> {
                verdict.refuse(refusal(refused.detail()));
                yield DECIDED;
            }
            case Choice.Open open -> PASS.admit(request, verdict);
            case Choice.Applies applies -> {
                removeReserved(request.fields());
                yield admissions.get(applies.index()).admit(request, verdict);
            }
        };
    }

    /**
     * Finds what applies to a request.
     *
     * @param choices {@link #choices} of the rules
     * @param target its target
     * @param address its caller's; null: unknown
     */
    static Choice choose(AccessRules rules, List<Choice.Applies> choices, String target,
            @Nullable InetAddress address) {
        CallerPath path = CallerPath.of(target);
        Choice.Applies rule = longest(choices, path.raw());
        boolean any = !rules.rules().isEmpty();
        if (any && (path.isDevious() || path.readings()
                .stream()
                .anyMatch(reading -> !Objects.equals(longest(choices, reading), rule)))) {
            return new Choice.Refused(
                    "this path can be read in two ways, and not all of them are open to you");
        }
        if (any && rule == null) {
            return new Choice.Refused("no access rule opens this path");
        }
        if (!comesFrom(address, rules.addresses())
                || (rule != null && !comesFrom(address, rule.rule().addresses()))) {
            return new Choice.Refused("this can't be called from your address");
        }
        return rule == null ? OPEN : rule;
    }

    /** What applies by each rule, in the order of the rules. */
    static List<Choice.Applies> choices(AccessRules rules) {
        return IntStream.range(0, rules.rules().size())
                .mapToObj(i -> new Choice.Applies(rules.rules().get(i), rules.rules().get(i).segments(), i))
                .toList();
    }

    /** The rule with the longest path that covers the segments; null: none does. */
    private static Choice.@Nullable Applies longest(List<Choice.Applies> choices, List<String> segments) {
        Choice.Applies longest = null;
        for (Choice.Applies choice : choices) {
            if (choice.path().covers(segments) && (longest == null
                    || choice.path().segments().size() > longest.path().segments().size())) {
                longest = choice;
            }
        }
        return longest;
    }

    private static boolean comesFrom(@Nullable InetAddress address, List<Cidr> blocks) {
        return blocks.isEmpty() || (address != null && AccessRules.contain(blocks, address));
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
