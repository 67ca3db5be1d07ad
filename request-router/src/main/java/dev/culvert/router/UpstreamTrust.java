package dev.culvert.router;

import dev.culvert.certs.PemFiles;
import dev.culvert.certs.ServerTrust;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Which authorities upstreams' certificates may come from: of a route's own file, else the router's. Immutable. */
final class UpstreamTrust {
    /** No upstream speaks TLS. */
    static final UpstreamTrust NONE = new UpstreamTrust(null, Map.of());

    private final @Nullable UpstreamTls usual;
    private final Map<Path, UpstreamTls> byFile;

    private UpstreamTrust(@Nullable UpstreamTls usual, Map<Path, UpstreamTls> byFile) {
        this.usual = usual;
        this.byFile = Map.copyOf(byFile);
    }

    /** The same for all upstreams; null: none speaks TLS. */
    static UpstreamTrust of(@Nullable UpstreamTls all) {
        return new UpstreamTrust(all, Map.of());
    }

    /**
     * Reads the files of authorities: not for an event loop. Throws {@link dev.culvert.certs.CertsException}.
     *
     * @param usual of upstreams that name none; null: the public authorities
     * @param upstreams those that speak TLS count
     */
    static UpstreamTrust load(@Nullable Path usual, Collection<UpstreamAddress> upstreams) {
        Map<Path, UpstreamTls> files = new HashMap<>();
        boolean some = false;
        for (UpstreamAddress upstream : upstreams) {
            Path own = upstream.ca();
            if (upstream.tls() && own != null) {
                files.computeIfAbsent(own, UpstreamTrust::inFile);
            }
            some |= upstream.tls() && own == null;
        }
        UpstreamTls others = !some
                ? null
                : usual == null ? UpstreamTls.trusting(ServerTrust.inSystemRoots()) : inFile(usual);
        return new UpstreamTrust(others, files);
    }

    private static UpstreamTls inFile(Path ca) {
        return UpstreamTls.trusting(ServerTrust.inAuthorities(PemFiles.readCertificates(ca)));
    }

    /** Towards an upstream that speaks TLS. */
    UpstreamTls towards(UpstreamAddress upstream) {
        Path own = upstream.ca();
        return Objects.requireNonNull(own == null ? usual : byFile.getOrDefault(own, usual));
    }
}
