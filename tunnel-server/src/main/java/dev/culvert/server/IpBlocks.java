package dev.culvert.server;

import io.netty.util.NetUtil;

/** Checks the text of address blocks without asking DNS. */
final class IpBlocks {
    private IpBlocks() {}

    /** Whether {@code text} is an IP address, or one with a prefix length: {@code 10.0.0.0/8}, {@code ::1}. */
    static boolean valid(String text) {
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        boolean four = NetUtil.isValidIpV4Address(address);
        if (!four && !NetUtil.isValidIpV6Address(address)) {
            return false;
        }
        return slash < 0 || prefix(text.substring(slash + 1)) <= (four ? 32 : 128);
    }

    private static int prefix(String digits) {
        boolean number = !digits.isEmpty() && digits.length() <= 3
                && digits.chars().allMatch(c -> c >= '0' && c <= '9');
        return number ? Integer.parseInt(digits) : Integer.MAX_VALUE;
    }
}
