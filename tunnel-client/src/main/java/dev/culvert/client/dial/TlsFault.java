package dev.culvert.client.dial;

import dev.culvert.certs.tls.UntrustedServerException;
import dev.culvert.config.Reason;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;

/**
 * Says why TLS with a server failed, and what to do about it. TLS engines wrap the error of a certificate
 * several times, and speak in numbers and names of their own code: nothing of that is shown.
 */
public final class TlsFault {
    private static final int MAX_CAUSES = 10;
    private static final Pattern ALERT = Pattern.compile("(?:fatal alert: |_ALERT_)(\\w+)");
    private static final String OTHER_PORT = "the tunnel listener has another port (7443 unless tunnel.listen says otherwise)";
    private static final String CLOSED = "the connection was closed during TLS: is this the tunnel's port? A firewall"
            + " or proxy that looks at TLS may cut it";

    private TlsFault() {}

    /** A sentence. Never empty. */
    public static String of(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; i < MAX_CAUSES && cause != null; i++) {
            if (cause instanceof UntrustedServerException untrusted) {
                return untrusted.getMessage() + advice(untrusted.reason());
            } else if (cause instanceof CertificateException) {
                return String.valueOf(cause.getMessage()); // of our own trust managers
            }
            cause = cause.getCause();
        }
        return switch (failure) {
            case DialFailure own -> String.valueOf(own.getMessage());
            case NotSslRecordException plain -> "no TLS is spoken there: " + OTHER_PORT;
            case SslHandshakeTimeoutException late ->
                "no TLS handshake in time: is this the tunnel's port? A firewall may swallow TLS";
            case ClosedChannelException closed -> CLOSED;
            case SSLException engine -> engine(String.valueOf(engine.getMessage()));
            case IOException broken -> Reason.of(broken);
            default -> Reason.of(failure);
        };
    }

    private static String engine(String text) {
        Matcher alert = ALERT.matcher(text);
        if (alert.find()) {
            return "the server ended TLS with the alert "
                    + String.valueOf(alert.group(1)).toLowerCase(Locale.ROOT).replace('_', ' ');
        } else if (text.contains("WRONG_VERSION_NUMBER")) {
            return "no TLS is spoken there: " + OTHER_PORT;
        } else if (text.contains("UNSUPPORTED_PROTOCOL")) {
            return "the server's TLS is too old (expected: 1.2 or 1.3)";
        }
        return text.contains("closed") ? CLOSED : "the handshake failed";
    }

    private static String advice(UntrustedServerException.Reason reason) {
        return switch (reason) {
            case AUTHORITY ->
                "; if a proxy on the way inspects TLS, name its authority in extraCa, else the server's"
                        + " own in serverCa";
            case ENDED, EARLY ->
                "; set the clock if it is wrong, else let the server's operator renew the certificate";
            case HOST -> "; " + OTHER_PORT + ", if this is the edge's";
            case OTHER -> "";
        };
    }
}
