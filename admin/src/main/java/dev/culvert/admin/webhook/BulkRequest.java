package dev.culvert.admin.webhook;

import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.inbox.model.WebhookFilter;
import dev.culvert.inbox.model.WebhookState;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The body of a change of many webhooks.
 *
 * @param filter the webhooks
 * @param dryRun whether to count them only
 * @param limit the maximum number of webhooks of this call
 * @param next where to go on, from the response before; null: the first call
 */
record BulkRequest(WebhookFilter filter, boolean dryRun, int limit, @Nullable String next) {
    static final int MAX_LIMIT = 10_000;
    static final int MAX_SOURCE = 200;
    private static final int DEFAULT_LIMIT = 5_000;
    private static final int SHOWN_IDS = 10;
    private static final Set<String> FIELDS = Set.of("ids", "account", "name", "source", "state", "since",
            "until", "dryRun", "limit", "next");

    /**
     * Reads a body. Throws HandlerException for a wrong one, and what {@code runtimes} throws.
     *
     * @param runtimes returns the id of a runtime by account and name, both null for all
     */
    static BulkRequest read(byte[] body,
            BiFunction<@Nullable String, @Nullable String, @Nullable String> runtimes) {
        return JsonFields.read(body, FIELDS, fields -> {
            String runtimeId = runtimes.apply(fields.optionalText("account"), fields.optionalText("name"));
            String source = fields.optionalText("source");
            if (source != null && runtimeId == null) {
                throw new IllegalArgumentException(
                        "source: without a runtime (expected: account and name beside it)");
            }
            if (source != null && (source.isEmpty() || source.length() > MAX_SOURCE)) {
                throw new IllegalArgumentException(
                        "source: no text of 1.." + MAX_SOURCE + " characters (expected: as argo/push)");
            }
            var filter = new WebhookFilter(fields.texts("ids"), runtimeId, source,
                    state(fields.optionalText("state")), time(fields, "since"), time(fields, "until"));
            return new BulkRequest(filter, fields.flag("dryRun"), limit(fields.optionalNumber("limit")),
                    fields.optionalText("next"));
        });
    }

    static @Nullable WebhookState state(@Nullable String word) {
        WebhookState state = word == null ? null : WebhookState.of(word);
        if (word != null && state == null) {
            throw new IllegalArgumentException(
                    "state: not a state (expected: pending, delivered or dead)");
        }
        return state;
    }

    private static @Nullable Instant time(JsonFields fields, String field) {
        String text = fields.optionalText(field);
        try {
            return text == null ? null : OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    field + ": not a time (expected: as 2026-11-25T12:00:00Z)", e);
        }
    }

    private static int limit(@Nullable Long limit) {
        if (limit != null && (limit < 1 || limit > MAX_LIMIT)) {
            throw new IllegalArgumentException(
                    "limit: not a number of webhooks (expected: 1.." + MAX_LIMIT + ")");
        }
        return limit == null ? DEFAULT_LIMIT : limit.intValue();
    }

    /** Whether the filter names webhooks, an event source or a state, and not only a time or a runtime. */
    boolean isSpecific() {
        return !filter.ids().isEmpty() || filter.source() != null || filter.state() != null;
    }

    /**
     * The filter in words, for the audit log.
     *
     * @param runtime the runtime's name; null: none is to be shown
     */
    String words(WebhookRuntimes.@Nullable Name runtime) {
        List<String> words = new ArrayList<>();
        add(words, "", runtime);
        add(words, "", filter.source());
        add(words, "", filter.state() == null ? null : filter.state().word());
        add(words, "since ", filter.since());
        add(words, "until ", filter.until());
        if (!filter.ids().isEmpty()) {
            words.add(filter.ids().size() + " ids: " + filter.ids()
                    .stream()
                    .limit(SHOWN_IDS)
                    .map(id -> id.length() > 40 ? id.substring(0, 40) + "…" : id)
                    .collect(Collectors.joining(" "))
                    + (filter.ids().size() > SHOWN_IDS ? " …" : ""));
        }
        return String.join(", ", words);
    }

    private static void add(List<String> words, String before, @Nullable Object value) {
        if (value != null) {
            words.add(before + value);
        }
    }
}
