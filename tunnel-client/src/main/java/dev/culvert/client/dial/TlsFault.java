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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says why TLS with a server failed, and what to do about it. TLS engines wrap the error of a certificate
 * several times, and speak in numbers and names of their own code: nothing of that is shown.
 */
public final class TlsFault {
    private static final Logger LOG = LoggerFactory.getLogger(TlsFault.class);
    private static final int MAX_CAUSES = 10;
    private static final Pattern ALERT = Pattern.compile("(?:fatal alert: |_ALERT_)(\\w+)");
    private static final String OTHER_PORT = "the tunnel listener has another port (7443 unless tunnel.listen says otherwise)";
    private static final String CLOSED = "the connection was closed during TLS: is this the tunnel's port? A firewall"
            + " or proxy that looks at TLS may cut it";
    private static final String CUT = "the connection was closed";

    private TlsFault() {}

    /** Says why the handshake failed, in a sentence. Never empty. */
    public static String of(Throwable failure) {
        return of(failure, false);
    }

    /**
     * A sentence. Never empty. The words of the engine itself are logged at the level debug.
     *
     * @param established whether the handshake had succeeded before
     */
    static String of(Throwable failure, boolean established) {
        Throwable cause = failure;
        for (int i = 0; i < MAX_CAUSES && cause != null; i++) {
            if (cause instanceof UntrustedServerException untrusted) {
                return untrusted.getMessage() + advice(untrusted.reason());
            } else if (cause instanceof CertificateException) {
                return String.valueOf(cause.getMessage()); // of our own trust managers
            }
            cause = cause.getCause();
        }
        if (failure instanceof SSLException) {
            LOG.debug("TLS {}: {}", established ? "broke" : "failed", failure.getMessage());
        }
        return switch (failure) {
            case DialFailure own -> String.valueOf(own.getMessage());
            case ClosedChannelException closed when established -> CUT;
            case NotSslRecordException plain when established -> "what arrived there is no TLS any more";
            case NotSslRecordException plain -> "no TLS is spoken there: " + OTHER_PORT;
            case SslHandshakeTimeoutException late ->
                "no TLS handshake in time: is this the tunnel's port? A firewall may swallow TLS";
            case ClosedChannelException closed -> CLOSED;
            case SSLException engine -> engine(String.valueOf(engine.getMessage()), established);
            case IOException broken -> Reason.of(broken);
            default -> Reason.of(failure);
        };
    }

    private static String engine(String text, boolean established) {
        Matcher alert = ALERT.matcher(text);
        if (alert.find()) {
            return "the server ended TLS with the alert "
                    + String.valueOf(alert.group(1)).toLowerCase(Locale.ROOT).replace('_', ' ');
        } else if (established) {
            // "closed", or "closing" without the close_notify that ends TLS
            return text.contains("clos")
                    ? CUT
                    : "TLS broke: what arrived is damaged, or was changed on the way";
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
