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
 * The TLS of one listener: its certificates, chosen by the server name that a handshake asks for (SNI), read again when
 * their files change, and the keys of its session tickets. Live sessions keep what they began with. Choosing is for any
 * thread and never waits; {@link #look} is for a thread that may block, called every few seconds.
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
     * Reads the files. Blocks. Throws {@link CertsException} naming a file that can't be used.
     *
     * @param listener its name in the log
     * @param files the first pair serves names that no other one has, and handshakes without a name
     * @param contexts makes the TLS of a certificate, as {@link TlsContexts} does
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

    /** Whether the server name makes no difference, as there is one certificate. */
    public boolean single() {
        return pairs.size() == 1;
    }

    /** The TLS for a handshake that asks for this name: of an exact name before a wildcard, in the order of the files. */
    public SslContext context(@Nullable String serverName) {
        return names.choose(serverName == null ? "" : serverName.toLowerCase(Locale.ROOT));
    }

    /** Whether a certificate is for exactly this DNS name, in lower case; wildcards do not count. */
    public boolean isFor(String name) {
        return names.isExact(name);
    }

    /** Whether a certificate is for this host, as clients verify it: a DNS name in lower case, or an address, of IPv6 in brackets. */
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

    /** When the first of the certificates ends. */
    public Instant notAfter() {
        return names.notAfter();
    }

    /** Reads again what has changed on disk, and replaces ticket keys that are old enough. Blocks. */
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
