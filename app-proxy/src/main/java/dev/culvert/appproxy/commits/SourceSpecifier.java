package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The source of an Application's manifests, written {@code <repository>.git[/path][?ref=branch]}.
 *
 * @param repository the clone URL, with {@code .git}
 * @param path the folder; {@code .} is the root
 * @param branch null: the repository's default
 */
record SourceSpecifier(String repository, String path, @Nullable Branch branch) {
    private static final Pattern URL = Pattern
            .compile("(?:https?|ssh)://([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::[0-9]{1,5})?/.*");
    /** Each part is a number, so that some client takes the name for an address. */
    private static final Pattern NUMERIC = Pattern.compile("(?:(?:0x)?[0-9a-f]+\\.)*(?:0x[0-9a-f]*|[0-9]+)");
    private static final Set<String> LOCAL_NAMES = Set.of("localhost", "localhost.localdomain",
            "ip6-localhost", "ip6-loopback", "metadata", "metadata.google.internal", "instance-data");
    /** Metadata services that have no link-local address: of AWS by IPv6, Alibaba and Oracle. */
    private static final Set<String> METADATA = Set.of("fd00:ec2:0:0:0:0:0:254", "100.100.100.200",
            "192.0.0.192");
    private static final Pattern TEXT = Pattern
            .compile(
                    "((?:https?://|ssh://|file:/{1,3})[^\\s?#@]{1,1000}?\\.git)(?:/([^?\\s]*))?(?:\\?ref=([^&\\s]+))?");

    /**
     * Errors: HandlerException BAD_REQUEST, also for a file, or an address of the cluster's own machines.
     *
     * @param allowed the beginnings of clone URLs that are taken all the same
     */
    static SourceSpecifier of(String text, List<String> allowed) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "appSpecifier is not understood (expected: <clone URL>.git[/path][?ref=branch], no user or token in it)");
        }
        String repository = matcher.group(1);
        if (allowed.stream().noneMatch(repository::startsWith) && !isRemote(repository)) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "appSpecifier names a file or an address of the cluster's own machines (expected: https://, http:// or"
                            + " ssh:// and another host, or a beginning in sharedConfiguration.localSources)");
        }
        String path = matcher.group(2);
        String branch = matcher.group(3);
        return new SourceSpecifier(repository,
                path == null || path.isEmpty() ? "." : new FilePath(path).text(),
                branch == null ? null : new Branch(branch));
    }

    /**
     * Whether a clone URL names a host that may be another one. Names that resolve to local addresses are not
     * known here: a network policy has to keep the Git client from them.
     */
    private static boolean isRemote(String repository) {
        Matcher url = URL.matcher(repository);
        if (!url.matches()) {
            return false;
        }
        String host = url.group(1).toLowerCase(Locale.ROOT);
        if (host.startsWith("[")) {
            String literal = host.substring(1, host.length() - 1);
            return NetUtil.isValidIpV6Address(literal) && !isLocal(literal);
        }
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        return NUMERIC.matcher(name).matches()
                ? NetUtil.isValidIpV4Address(name) && !isLocal(name) // 0x7f.1 and the like are addresses, too
                : !LOCAL_NAMES.contains(name) && !name.endsWith(".localhost");
    }

    private static boolean isLocal(String literal) {
        InetAddress address = InetAddress.ofLiteral(literal);
        return address.isLoopbackAddress() || address.isLinkLocalAddress() || address.isAnyLocalAddress()
                || address.isMulticastAddress() || METADATA.contains(address.getHostAddress());
    }
}
