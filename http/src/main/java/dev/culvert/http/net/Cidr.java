package dev.culvert.http.net;

import dev.culvert.config.IpText;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * A block of addresses: {@code 10.0.0.0/8}, {@code fd00::/8}, or a single address.
 *
 * @param network an address in the block; bits beyond the prefix are ignored
 * @param prefix the number of significant leading bits: 0..32 for IPv4, 0..128 for IPv6
 */
public record Cidr(InetAddress network, int prefix) {
    public Cidr {
        int bits = network.getAddress().length * Byte.SIZE;
        if (prefix < 0 || prefix > bits) {
            throw new IllegalArgumentException(
                    IpText.of(network) + "/" + prefix + " (expected: a prefix of 0.." + bits + ")");
        }
    }

    /**
     * Parses a block without DNS. Throws IllegalArgumentException that names the text and the expected form.
     */
    public static Cidr parse(String text) {
        int slash = text.indexOf('/');
        byte[] address = NetUtil
                .createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
        if (address == null) {
            throw unusable(text);
        }
        try {
            int prefix = slash < 0 ? address.length * Byte.SIZE : Integer.parseInt(text.substring(slash + 1));
            return new Cidr(InetAddress.getByAddress(address), prefix);
        } catch (UnknownHostException | NumberFormatException e) {
            throw unusable(text);
        }
    }

    /** Whether {@code address} is in this block. */
    public boolean contains(InetAddress address) {
        byte[] mine = network.getAddress();
        byte[] other = address.getAddress();
        if (mine.length != other.length) {
            return false;
        }
        int whole = prefix / Byte.SIZE;
        for (int i = 0; i < whole; i++) {
            if (mine[i] != other[i]) {
                return false;
            }
        }
        int rest = prefix % Byte.SIZE;
        return rest == 0 || ((mine[whole] ^ other[whole]) & (0xff << (Byte.SIZE - rest)) & 0xff) == 0;
    }

    /** Whether one of the blocks contains {@code address}. */
    public static boolean anyContains(List<Cidr> blocks, InetAddress address) {
        for (Cidr block : blocks) { // no stream: called for each request
            if (block.contains(address)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return IpText.of(network) + "/" + prefix;
    }

    private static IllegalArgumentException unusable(String text) {
        return new IllegalArgumentException(text + " (expected: an address block as 10.0.0.0/8 or fd00::/8)");
    }
}
