package dev.culvert.routing;

import dev.culvert.config.HostPort;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.handler.codec.dns.DatagramDnsQuery;
import io.netty.handler.codec.dns.DatagramDnsQueryDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A DNS server on 127.0.0.1 that knows what it is told, IPv4 addresses only. */
final class DnsServer implements AutoCloseable {
    private final MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1,
            NioIoHandler.newFactory());
    private final Map<String, Zone> names = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();
    private final Channel channel;
    /** Used by the channel's loop alone. */
    private final Queue<Runnable> held = new ArrayDeque<>();
    private volatile boolean silent;
    private volatile boolean failing;
    private volatile boolean holding;

    private record Zone(int ttlSeconds, List<String> addresses) {}

    DnsServer() {
        channel = new Bootstrap().group(loops)
                .channel(NioDatagramChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel made) {
                        made.pipeline()
                                .addLast(new DatagramDnsQueryDecoder(), new DatagramDnsResponseEncoder(),
                                        new Answers());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    HostPort address() {
        return HostPort.of((InetSocketAddress) channel.localAddress());
    }

    /** The name has these addresses now; without any, it is not known. */
    void tell(String name, int ttlSeconds, String... addresses) {
        names.put(name + ".", new Zone(ttlSeconds, List.of(addresses)));
    }

    /** Whether it answers nothing at all. */
    void silent(boolean now) {
        silent = now;
    }

    /** Whether it answers everything with SERVFAIL. */
    void failing(boolean now) {
        failing = now;
    }

    /** Keeps its answers until {@link #release}. */
    void hold() {
        holding = true;
    }

    /** Gives the answers that it kept, and does not keep any more. */
    void release() {
        channel.eventLoop().execute(() -> {
            holding = false;
            for (Runnable answer = held.poll(); answer != null; answer = held.poll()) {
                answer.run();
            }
        });
    }

    /** How often it was asked for the IPv4 addresses of a name. */
    int asked(String name) {
        AtomicInteger count = asked.get(name + ".");
        return count == null ? 0 : count.get();
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private final class Answers extends SimpleChannelInboundHandler<DatagramDnsQuery> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, DatagramDnsQuery query) {
            DnsQuestion question = query.recordAt(DnsSection.QUESTION);
            boolean ipv4 = question.type().equals(DnsRecordType.A);
            if (ipv4) {
                asked.computeIfAbsent(question.name(), name -> new AtomicInteger()).incrementAndGet();
            }
            if (silent) {
                return;
            }
            var answer = new DatagramDnsResponse(query.recipient(), query.sender(), query.id());
            answer.setRecursionAvailable(true);
            answer.addRecord(DnsSection.QUESTION, question);
            Zone zone = names.get(question.name());
            if (failing) {
                answer.setCode(DnsResponseCode.SERVFAIL);
            } else if (zone == null || zone.addresses.isEmpty()) {
                answer.setCode(DnsResponseCode.NXDOMAIN);
            } else if (ipv4) {
                zone.addresses.forEach(address -> answer.addRecord(DnsSection.ANSWER,
                        new DefaultDnsRawRecord(question.name(), DnsRecordType.A, zone.ttlSeconds,
                                Unpooled.wrappedBuffer(Objects.requireNonNull(
                                        NetUtil.createByteArrayFromIpAddressString(address))))));
            }
            if (holding) {
                held.add(() -> ctx.writeAndFlush(answer));
            } else {
                ctx.writeAndFlush(answer);
            }
        }
    }
}
