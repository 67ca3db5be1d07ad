package dev.culvert.config;

import io.netty.util.NetUtil;
import java.net.InetAddress;

/** The text of IP addresses in fields, logs and answers: that of RFC 5952, without a zone. */
public final class IpText {
    private IpText() {}

    /** As {@code 192.0.2.7} or {@code 2001:db8::7}. */
    public static String of(InetAddress address) {
        return NetUtil.toAddressString(address);
    }
}
