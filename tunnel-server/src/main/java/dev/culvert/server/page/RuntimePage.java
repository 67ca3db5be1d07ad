package dev.culvert.server.page;

import dev.culvert.admin.AdminRole;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeUsage;
import dev.culvert.relay.quota.RuntimeUsage.Refusal;
import dev.culvert.web.Format;
import gg.jte.Content;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The page of one runtime.
 *
 * @param detail what changes by itself
 * @param access its access rules
 * @param limits its limits
 * @param usage what it has used
 * @param role the role of the person
 * @param csrf the token of the session
 * @param problems its recent problems
 */
public record RuntimePage(RuntimeDetail detail, AccessShown access, List<LimitLine> limits, Usage usage,
        AdminRole role, String csrf, Content problems) {
    /** What the runtime has used since the server started, in words. */
    public record Usage(String requests, String bytes, String refused) {
        static Usage of(RuntimeUsage usage) {
            String refused = Arrays.stream(Refusal.values())
                    .filter(why -> usage.refusals(why) > 0)
                    .map(why -> Format.count(usage.refusals(why)) + " (" + why.word() + ")")
                    .collect(Collectors.joining(", "));
            return new Usage(Format.count(usage.requests()),
                    Format.bytes(usage.bytesIn()) + ", " + Format.bytes(usage.bytesOut()),
                    refused.isEmpty() ? "none" : refused);
        }
    }

    static List<LimitLine> limits(OwnLimits own, RuntimeQuota quota) {
        return Arrays.stream(RuntimeLimit.values()).map(limit -> {
            Long given = own.value(limit);
            return new LimitLine(limit.key(), given == null ? "" : given.toString(),
                    inForce(limit, quota.limits().value(limit)), limit.accepts());
        }).toList();
    }

    private static String inForce(RuntimeLimit limit, long value) {
        boolean bytes = limit == RuntimeLimit.MAX_BODY_BYTES || limit == RuntimeLimit.BYTES_PER_SECOND;
        return value == 0 && limit != RuntimeLimit.MAX_STREAMS
                ? "no limit"
                : bytes ? Format.bytes(value) : Format.count(value);
    }

    /** Whether the person may do what needs a role. */
    public boolean may(AdminRole needed) {
        return role.covers(needed);
    }

    /** The path of this page. */
    public String path() {
        return detail.row().path();
    }

    /** The answer to "would this be allowed?". */
    public String allowedWord() {
        var answer = access.answer();
        return answer == null ? "" : switch (answer.decision()) {
            case ALLOWED -> "Allowed";
            case REFUSED -> "Refused with 403";
            case DEPENDS -> "It depends on the caller";
        };
    }

    /** The style of that answer. */
    public String allowedTone() {
        var answer = access.answer();
        return answer == null ? "" : switch (answer.decision()) {
            case ALLOWED -> "good";
            case REFUSED -> "bad";
            case DEPENDS -> "warn";
        };
    }
}
