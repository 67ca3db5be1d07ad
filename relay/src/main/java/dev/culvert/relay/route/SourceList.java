package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import dev.culvert.http.net.Cidr;
import java.net.InetAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The caller addresses that a route allows. Immutable.
 *
 * @param blocks the blocks of addresses; empty: all
 */
public record SourceList(List<Cidr> blocks) {
    private static final int MAX_BLOCKS = 256;

    public SourceList {
        blocks = List.copyOf(blocks);
        if (blocks.size() > MAX_BLOCKS) {
            throw new ConfigException("sources", "at most " + MAX_BLOCKS + " blocks of addresses");
        }
    }

    /** Parses blocks such as 10.0.0.0/8. Throws ConfigException for the key {@code sources}. */
    public static SourceList parse(List<String> blocks) {
        try {
            return new SourceList(blocks.stream().map(Cidr::parse).toList());
        } catch (IllegalArgumentException e) {
            throw new ConfigException("sources", "blocks of addresses, as 192.0.2.0/24 or 2001:db8::/32");
        }
    }

    /** Whether a caller is allowed. A caller of unknown address is not, unless all are. */
    public boolean allows(@Nullable InetAddress caller) {
        return blocks.isEmpty()
                || (caller != null && blocks.stream().anyMatch(block -> block.contains(caller)));
    }
}
