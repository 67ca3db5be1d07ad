package dev.culvert.config;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Describes a system failure for people: its reason in words, never the name of a class. */
public final class Reason {
    /** Netty's native transports put the system call and the error number before the reason. */
    private static final Pattern NATIVE_CALL = Pattern
            .compile("^\\S+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: ");
    /** Exceptions that wrap another one repeat its class name in their own message. */
    private static final Pattern CLASS_NAME = Pattern.compile("^(?:(?:[a-z]\\w*\\.)+[A-Z][\\w$]*(?:: |$))+");
    /**
     * The maximum number of causes that are examined. Longer chains do not help, and a cycle must not cause
     * an endless loop.
     */
    private static final int MAX_CAUSES = 10;

    private static final String REFUSED = "Connection refused";
    private static final String CONNECTION_REFUSED = "the connection was refused";

    private Reason() {}

    /** The first reason that the failure or one of its causes gives. Never empty. */
    public static String of(Throwable failure) {
        String nothingBetter = "it failed without a reason";
        Throwable cause = failure;
        for (int i = 0; i < MAX_CAUSES && cause != null; i++) {
            String known = known(cause);
            if (known != null) {
                return known;
            }
            if (cause instanceof ConnectException) { // the JDK's HTTP client gives no message
                nothingBetter = "the connection was refused";
            }
            cause = cause.getCause();
        }
        return nothingBetter;
    }

    private static @Nullable String known(Throwable failure) {
        return switch (failure) {
            case UnresolvedAddressException unresolved -> "the name can't be resolved";
            case UnknownHostException unknown -> "the name can't be resolved";
            case TimeoutException late -> "no answer in time";
            case SocketTimeoutException late -> "no answer in time";
            case NoSuchFileException absent -> "no such file or folder";
            case AccessDeniedException denied -> "no permission";
            case FileAlreadyExistsException exists -> "something else is there";
            case FileSystemException other -> other.getReason();
            default -> words(failure.getMessage());
        };
    }

    /** Whether the peer's host answered that nothing listens there. */
    public static boolean isRefused(Throwable failure) {
        return CONNECTION_REFUSED.equals(words(failure.getMessage()));
    }

    private static @Nullable String words(@Nullable String message) {
        if (message == null) {
            return null;
        }
        String words = CLASS_NAME.matcher(message).replaceFirst("");
        words = NATIVE_CALL.matcher(words).replaceFirst("").strip();
        if (words.startsWith(REFUSED)) { // the address behind it is known to whoever tells this
            return CONNECTION_REFUSED;
        }
        return words.isEmpty() ? null : words;
    }
}
