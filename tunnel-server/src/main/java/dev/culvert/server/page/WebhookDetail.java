package dev.culvert.server.page;

import dev.culvert.inbox.model.WebhookHead;
import dev.culvert.web.Format;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The page of one webhook.
 *
 * @param row what the list shows of it
 * @param content its fields and the beginning of its body; null: not kept any more, or not for this role
 * @param mayRead whether the person may read its content
 * @param mayReplay whether the person may send it again
 * @param attempts what happened to it since this server started, the newest first
 */
public record WebhookDetail(WebhookList.Row row, @Nullable Content content, boolean mayRead,
        boolean mayReplay, List<EventRow> attempts) {
    /** The bytes of the body that are shown. */
    static final int MOST = 4096;
    private static final int MAX_VALUE = 256;
    /** Fields without secrets. The values of all others are left out: providers name theirs as they like. */
    private static final Set<String> PLAIN = Set.of("accept", "accept-encoding", "content-encoding",
            "content-length", "content-type", "date", "forwarded", "host", "traceparent", "user-agent", "via",
            "x-event-key", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto",
            "x-github-delivery", "x-github-event", "x-github-hook-id", "x-gitlab-event",
            "x-gitlab-event-uuid", "x-gitlab-instance", "x-gitea-delivery", "x-gitea-event",
            "x-request-id", "ce-id", "ce-source", "ce-specversion", "ce-time", "ce-type");

    /** A field. The value of one that may hold a secret is empty. */
    public record Field(String name, String value, boolean isHidden) {}

    /**
     * What the webhook consists of.
     *
     * @param fields its fields
     * @param text the beginning of its body; empty: it is no text, or has none
     * @param note what the text is, in words
     */
    public record Content(List<Field> fields, String text, String note) {
        static Content of(WebhookHead head) {
            List<Field> fields = new ArrayList<>();
            head.fields().forEach(field -> fields.add(field(field.getKey(), field.getValue())));
            boolean encoded = head.fields().contains("content-encoding");
            String text = encoded ? "" : text(head.body());
            String size = Format.bytes(head.size());
            return new Content(fields, text, head.size() == 0
                    ? "It has no body."
                    : text.isEmpty()
                            ? size + " that are no plain text."
                            : head.size() > head.body().length
                                    ? "The first " + Format.bytes(head.body().length) + " of " + size + "."
                                    : size + ".");
        }

        private static Field field(CharSequence name, CharSequence value) {
            String word = name.toString().toLowerCase(Locale.ROOT);
            boolean isPlain = PLAIN.contains(word);
            String shown = isPlain ? value.toString() : "";
            return new Field(word, shown.length() > MAX_VALUE ? shown.substring(0, MAX_VALUE) + "…" : shown,
                    !isPlain);
        }

        /** The bytes as UTF-8. Control characters are shown as dots; with a NUL it is no text. */
        private static String text(byte[] bytes) {
            String text = new String(bytes, StandardCharsets.UTF_8);
            if (text.indexOf('\0') >= 0) {
                return "";
            }
            return text.codePoints()
                    .map(c -> isShown(c) ? c : '·')
                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                    .toString();
        }

        /** Characters that change the direction of a text would show another one. */
        private static boolean isShown(int c) {
            return c == '\n' || c == '\t'
                    || (!Character.isISOControl(c) && Character.getType(c) != Character.FORMAT);
        }
    }
}
