package dev.culvert.relay.upstream;

import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.relay.tls.TlsLink;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the authorities that may sign an upstream's certificate: those in the route's own file if it names
 * one, else the router's. Immutable.
 */
public final class UpstreamTrust {
    /** The trust of a router without upstreams that use TLS. */
    public static final UpstreamTrust NONE = new UpstreamTrust(null, Map.of(), null);

    private final @Nullable UpstreamTls usual;
    private final Map<Path, UpstreamTls> byFile;
    private final @Nullable UpstreamTrust before;

    private UpstreamTrust(@Nullable UpstreamTls usual, Map<Path, UpstreamTls> byFile,
            @Nullable UpstreamTrust before) {
        this.usual = usual;
        this.byFile = Map.copyOf(byFile);
        this.before = before;
    }

    /** Creates a trust with the same contexts for all upstreams; null: no upstream uses TLS. */
    public static UpstreamTrust of(@Nullable UpstreamTls all) {
        return new UpstreamTrust(all, Map.of(), null);
    }

    /**
     * Reads the files of authorities, so it must not run on an event loop. Throws
     * {@link dev.culvert.certs.CertsException}.
     *
     * @param usual the authorities' file for upstreams that name none; null: the public authorities
     * @param upstreams the upstreams; those without TLS are ignored
     * @param link the link of their connections
     */
    public static UpstreamTrust load(@Nullable Path usual, Collection<UpstreamAddress> upstreams,
            TlsLink link) {
        Map<Path, UpstreamTls> files = new HashMap<>();
        boolean some = false;
        for (UpstreamAddress upstream : upstreams) {
            Path own = upstream.ca();
            if (upstream.tls() && own != null) {
                files.computeIfAbsent(own, file -> UpstreamTls.inFile(file, link));
            }
            some |= upstream.tls() && own == null;
        }
        UpstreamTls others = !some
                ? null
                : usual == null
                        ? UpstreamTls.trusting(ServerTrust.inSystemRoots(), link)
                        : UpstreamTls.inFile(usual, link);
        return new UpstreamTrust(others, files, null);
    }

    /**
     * Returns this trust, extended by the files that only the previous one has: requests that began under it
     * may still dial.
     */
    public UpstreamTrust after(UpstreamTrust previous) {
        return new UpstreamTrust(usual, byFile, new UpstreamTrust(previous.usual, previous.byFile, null));
    }

    /**
     * Returns the contexts for an upstream that uses TLS. An upstream with its own file is trusted only by
     * that file.
     */
    public UpstreamTls towards(UpstreamAddress upstream) {
        UpstreamTls found = find(upstream);
        return Objects.requireNonNull(found != null || before == null ? found : before.find(upstream),
                "no authorities for an upstream that neither this configuration nor the previous one has");
    }

    private @Nullable UpstreamTls find(UpstreamAddress upstream) {
        Path own = upstream.ca();
        return own == null ? usual : byFile.get(own);
    }
}
