package dev.culvert.certs.tls;

import dev.culvert.certs.AlternativeNames;
import dev.culvert.certs.CertificateFiles;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.SslContext;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The TLS state of one listener: its certificates and the keys of its session tickets. A handshake selects a
 * certificate by server name (SNI). Certificates are reloaded when their files change; live connections keep
 * their certificate. Selection is safe on any thread and never blocks. {@link #look} blocks and is called
 * every few seconds.
 */
public final class ListenerTls {
    private final List<WatchedPair> pairs;
    private final TicketKeys tickets;
    private volatile CertificateNames names;

    private ListenerTls(List<WatchedPair> pairs, TicketKeys tickets) {
        this.pairs = pairs;
        this.tickets = tickets;
        names = choice();
    }

    /**
     * Reads the files. Blocks. Throws {@link CertsException} that names the unusable file.
     *
     * @param listener the name of the listener in the log
     * @param files the certificates; the first pair also serves unknown names and handshakes without a name
     * @param contexts creates the TLS context of a certificate, for example with {@link TlsContexts}
     */
    public static ListenerTls load(String listener, List<CertificateFiles> files,
            Function<TlsMaterial, SslContext> contexts, Clock clock) {
        if (files.isEmpty()) {
            throw new CertsException("no certificate for the listener " + listener);
        }
        return new ListenerTls(
                files.stream().map(pair -> WatchedPair.load(listener, pair, contexts, clock)).toList(),
                new TicketKeys(clock));
    }

    /** Whether there is only one certificate, so that the server name has no effect. */
    public boolean single() {
        return pairs.size() == 1;
    }

    /** The TLS context for a server name. Exact names precede wildcards, in the order of the files. */
    public SslContext context(@Nullable String serverName) {
        return names.choose(serverName == null ? "" : serverName.toLowerCase(Locale.ROOT));
    }

    /** Whether a certificate has exactly this DNS name, in lower case. Wildcards do not count. */
    public boolean isFor(String name) {
        return names.isExact(name);
    }

    /**
     * Whether a certificate covers this host in the way that clients verify it. The host is a DNS name in
     * lower case or an address, IPv6 in brackets.
     */
    public boolean covers(String host) {
        String literal = host.startsWith("[") && host.endsWith("]")
                ? host.substring(1, host.length() - 1)
                : host;
        return NetUtil.isValidIpV4Address(literal) || NetUtil.isValidIpV6Address(literal)
                ? pairs.stream().anyMatch(pair -> hasAddress(pair.inUse().material().leaf(), literal))
                : names.covers(host);
    }

    private static boolean hasAddress(X509Certificate leaf, String literal) {
        try {
            return AlternativeNames.of(leaf).addresses().contains(InetAddress.ofLiteral(literal));
        } catch (CertsException | IllegalArgumentException e) {
            return false;
        }
    }

    /** The earliest expiry of the certificates. */
    public Instant notAfter() {
        return names.notAfter();
    }

    /** Reloads changed files and rotates ticket keys that are due. Blocks. */
    public synchronized void look() {
        boolean changed = false;
        for (WatchedPair pair : pairs) {
            changed |= pair.look();
        }
        if (tickets.rotate() || changed) {
            names = choice();
        }
    }

    private CertificateNames choice() {
        pairs.forEach(pair -> tickets.giveTo(pair.inUse().context()));
        return CertificateNames.of(pairs.stream().map(WatchedPair::inUse).toList());
    }
}
