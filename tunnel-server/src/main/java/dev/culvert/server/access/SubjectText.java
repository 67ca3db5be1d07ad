package dev.culvert.server.access;

import java.nio.charset.StandardCharsets;

/**
 * Encodes a subject as a field value. Percent signs and characters that are not visible ASCII are
 * percent-encoded UTF-8.
 */
final class SubjectText {
    private SubjectText() {}

    static String of(String subject) {
        var text = new StringBuilder(subject.length());
        for (byte octet : subject.getBytes(StandardCharsets.UTF_8)) {
            boolean inner = octet == ' ' && !text.isEmpty();
            if ((octet > ' ' && octet < 0x7f && octet != '%') || inner) {
                text.append((char) octet);
            } else {
                text.append('%').append(String.format("%02X", octet & 0xff));
            }
        }
        return text.toString();
    }
}
