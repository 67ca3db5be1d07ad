package dev.culvert.relay.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The responses in what a server wrote on a connection of HTTP/1.1, to its end. */
public final class Answers {
    private static final Pattern CAUSE = Pattern.compile("urn:culvert:problem:([a-z-]+)");
    private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: (\\d+)\r\n");

    private Answers() {}

    /** Each as {@code 200}, or {@code 400 bad-request} for a problem; what is no response stands at the end. */
    public static List<String> of(String bytes) {
        List<String> answers = new ArrayList<>();
        int at = 0;
        while (at < bytes.length()) {
            int end = bytes.indexOf("\r\n\r\n", at);
            if (end < 0 || !bytes.startsWith("HTTP/1.1 ", at)) {
                answers.add("no response: " + bytes.substring(at));
                return answers;
            }
            String head = bytes.substring(at, end + 2).toLowerCase(Locale.ROOT);
            Matcher length = LENGTH.matcher(head);
            int bodyEnd = end + 4 + (length.find() ? Integer.parseInt(length.group(1)) : 0);
            if (bodyEnd > bytes.length()) {
                answers.add("no whole response: " + bytes.substring(at));
                return answers;
            }
            answers.add(answer(head.substring(9, 12), bytes.substring(end, bodyEnd)));
            at = bodyEnd;
        }
        return answers;
    }

    /** One answer in short. */
    public static String answer(String status, String body) {
        Matcher cause = CAUSE.matcher(body);
        return cause.find() ? status + " " + cause.group(1) : status;
    }
}
