package dev.culvert.launcher.logging;

import ch.qos.logback.classic.pattern.ThrowableProxyConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import org.jspecify.annotations.Nullable;

/**
 * Escapes text of other parties, so that a log event stays one line and is displayed in its order: control
 * characters, line and paragraph separators, invisible formatting characters and lone surrogates become
 * {@code \n}, {@code \r}, {@code \t} or {@code \}{@code u} and four hexadecimal digits.
 */
final class LogText {
    private static final String HEX = "0123456789abcdef";

    private LogText() {}

    /** Escapes a text for a line. */
    static String escaped(@Nullable Object text) {
        String plain = String.valueOf(text);
        return isPlain(plain, false) ? plain : escaped(plain, false);
    }

    /** Escapes a text and quotes it. */
    static String quoted(@Nullable Object text) {
        String plain = String.valueOf(text);
        return '"' + (isPlain(plain, true) ? plain : escaped(plain, true)) + '"';
    }

    private static boolean isPlain(String text, boolean quoted) {
        return text.codePoints().noneMatch(c -> isUnsafe(c) || quoted && isQuoting(c));
    }

    private static String escaped(String text, boolean quoted) {
        var safe = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (isUnsafe(c)) {
                escape(c, safe);
            } else {
                if (quoted && isQuoting(c)) {
                    safe.append('\\');
                }
                safe.appendCodePoint(c);
            }
        });
        return safe.toString();
    }

    private static boolean isQuoting(int c) {
        return c == '"' || c == '\\';
    }

    private static boolean isUnsafe(int c) {
        return c < ' ' || c > '~' && switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE ->
                true;
            default -> false;
        };
    }

    private static void escape(int c, StringBuilder into) {
        switch (c) {
            case '\n' -> into.append("\\n");
            case '\r' -> into.append("\\r");
            case '\t' -> into.append("\\t");
            default -> {
                for (char unit : Character.toChars(c)) {
                    into.append("\\u");
                    for (int shift = 12; shift >= 0; shift -= 4) {
                        into.append(HEX.charAt(unit >> shift & 0xf));
                    }
                }
            }
        }
    }

    /**
     * Writes stack traces with the messages of the errors escaped. The gateway itself generates the other
     * lines.
     */
    static final class StackTraces extends ThrowableProxyConverter {
        @Override
        public String convert(ILoggingEvent event) {
            IThrowableProxy error = event.getThrowableProxy();
            return error == null ? "" : throwableProxyToString(new Escaped(error));
        }
    }

    private record Escaped(IThrowableProxy error) implements IThrowableProxy {
        @Override
        public @Nullable String getMessage() {
            String message = error.getMessage();
            return message == null ? null : escaped(message);
        }

        @Override
        public String getClassName() {
            return error.getClassName();
        }

        @Override
        public StackTraceElementProxy[] getStackTraceElementProxyArray() {
            return error.getStackTraceElementProxyArray();
        }

        @Override
        public int getCommonFrames() {
            return error.getCommonFrames();
        }

        @Override
        public @Nullable IThrowableProxy getCause() {
            IThrowableProxy cause = error.getCause();
            return cause == null ? null : new Escaped(cause);
        }

        @Override
        public IThrowableProxy[] getSuppressed() {
            IThrowableProxy[] all = error.getSuppressed();
            IThrowableProxy[] escaped = new IThrowableProxy[all.length];
            for (int i = 0; i < all.length; i++) {
                escaped[i] = new Escaped(all[i]);
            }
            return escaped;
        }

        @Override
        public boolean isCyclic() {
            return error.isCyclic();
        }
    }
}
