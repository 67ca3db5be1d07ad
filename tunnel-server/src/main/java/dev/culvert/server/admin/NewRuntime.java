package dev.culvert.server.admin;

import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.Sha256;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.server.runtime.EnrolmentCredential;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeUpstream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The body of the call that creates a runtime.
 *
 * @param upstream that of a hosted runtime; null: it gets a tunnel
 * @param credential the enrolment token that the caller has made; null: the server makes one
 */
record NewRuntime(RuntimeName name, List<String> hosts, @Nullable RuntimeUpstream upstream,
        @Nullable EnrolmentCredential credential) {
    /** The maximum life of a token that the caller has made: it is carried to a cluster, and used there. */
    private static final Duration LONGEST_LIFE = Duration.ofDays(30);

    /** How far the clock of a caller may be ahead. */
    private static final Duration CLOCK_SLACK = Duration.ofMinutes(1);

    /** Reads the body. Throws HandlerException and InvalidNameException for mistakes. */
    static NewRuntime read(byte[] body, Instant now) {
        return JsonFields.read(body, Set.of("account", "name", "hosts", "upstream", "ca", "enrolment"),
                fields -> of(fields, now));
    }

    private static NewRuntime of(JsonFields fields, Instant now) {
        RuntimeUpstream upstream = upstreamIn(fields);
        boolean hasCredential = fields.has("enrolment");
        if (upstream != null && hasCredential) {
            throw new InvalidNameException("enrolment",
                    "given with upstream (expected: one of them, as a hosted runtime has no client)");
        }
        return new NewRuntime(new RuntimeName(fields.text("account"), fields.text("name")),
                fields.texts("hosts"), upstream,
                hasCredential
                        ? credential(fields.object("enrolment", Set.of("id", "hash", "expiresAt")), now)
                        : null);
    }

    private static EnrolmentCredential credential(JsonFields fields, Instant now) {
        try {
            Instant expires = Instant.parse(fields.text("expiresAt")).truncatedTo(ChronoUnit.MILLIS);
            if (expires.isAfter(now.plus(LONGEST_LIFE).plus(CLOCK_SLACK))) {
                throw new InvalidNameException("enrolment.expiresAt",
                        "too late (expected: at most " + LONGEST_LIFE.toDays() + " days from now)");
            }
            return EnrolmentCredential.of(fields.text("id"), fields.text("hash"), expires);
        } catch (DateTimeException e) {
            throw new InvalidNameException("enrolment.expiresAt",
                    "not a time (expected: as 2026-11-25T12:00:00Z)");
        } catch (CertsException e) {
            throw new InvalidNameException("enrolment", String.valueOf(e.getMessage()));
        }
    }

    static @Nullable RuntimeUpstream upstreamIn(JsonFields fields) {
        String url = fields.optionalText("upstream");
        String ca = fields.optionalText("ca");
        if (url == null && ca != null) {
            throw new InvalidNameException("ca", "given without upstream (expected: both)");
        }
        return url == null ? null : RuntimeUpstream.of(url, ca);
    }

    /** Identifies what is asked for: a call with the same digest is the same call. */
    Sha256 digest() {
        StringBuilder text = new StringBuilder();
        part(text, name.toString());
        hosts.forEach(host -> part(text, host));
        if (upstream != null) {
            part(text, "upstream");
            part(text, upstream.url().toString());
            part(text, upstream.ca() == null ? "" : upstream.ca());
        }
        if (credential != null) {
            part(text, "enrolment");
            part(text, credential.id());
            part(text, Base64Url.encode(Sha256.of(credential.hash().bytes()).bytes()));
            part(text, credential.expires().toString());
        }
        return Sha256.of(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a part with its length first, so that no two lists of parts give the same text. */
    private static void part(StringBuilder text, String part) {
        text.append(part.length()).append(':').append(part);
    }
}
