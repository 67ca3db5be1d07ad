package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.culvert.client.TunnelClient;
import dev.culvert.config.ByteSize;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** gRPC calls of grpc-java through edge (TLS, ALPN), tunnel and router to a grpc-java server in clear text. */
class GrpcIT {
    private static final long BYTES = ByteSize.parse(System.getProperty("culvert.grpc.bytes", "64MiB"))
            .bytes();
    private static final int MESSAGE = 64 << 10;
    private static final int PATIENCE_SECONDS = 60;

    @TempDir
    static Path folder;

    private static Platform platform;
    private static GrpcEcho echo;
    private static GrpcEcho other;
    private static TunnelClient client;
    private static ManagedChannel channel;
    private static ManagedChannel otherChannel;

    @BeforeAll
    static void start() throws Exception {
        platform = Platform.start(folder);
        echo = new GrpcEcho("echo");
        other = new GrpcEcho("other");
        client = platform.connect("acme", "prod", echo.uri("http"));
        platform.connect(platform.clientConfig("acme", "dev", platform.createRuntime("acme", "dev"), null,
                new RoutingConfig(List.of(RouteConfig.of("/test.Echo/", other.uri("h2c").toString())),
                        Policy.refusing(), Map.of())));
        channel = channel("acme-prod");
        otherChannel = channel("acme-dev");
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        otherChannel.shutdownNow();
        platform.close();
        echo.close();
        other.close();
    }

    private static ManagedChannel channel(String runtime) throws Exception {
        return channel(platform, runtime);
    }

    static ManagedChannel channel(Platform to, String runtime) throws Exception {
        return NettyChannelBuilder.forAddress("127.0.0.1", to.server.edgeAddress().port())
                .overrideAuthority(runtime + "." + Platform.DOMAIN)
                .sslContext(GrpcSslContexts.forClient()
                        .trustManager(InsecureTrustManagerFactory.INSTANCE)
                        .build())
                .maxInboundMetadataSize(72 << 10)
                .build();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String unary(ManagedChannel channel, String text) {
        byte[] answer = ClientCalls.blockingUnaryCall(channel, GrpcEcho.UNARY,
                CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS), bytes(text));
        return new String(answer, StandardCharsets.UTF_8);
    }

    @Test
    void aCallIsAnswered() {
        assertThat(unary(channel, "hello")).isEqualTo("hello");
    }

    @Test
    void theAuthorityChoosesTheRuntime() {
        assertThat(unary(channel, "")).isEqualTo("echo");
        assertThat(unary(otherChannel, "")).isEqualTo("other");
    }

    @Test
    void aClientsStreamIsAnsweredAtItsEnd() throws Exception {
        GrpcHeard heard = new GrpcHeard();
        StreamObserver<byte[]> said = ClientCalls
                .asyncClientStreamingCall(channel.newCall(GrpcEcho.COLLECT, CallOptions.DEFAULT), heard);

        for (int i = 0; i < 10; i++) {
            said.onNext(new byte[100]);
        }
        said.onCompleted();

        assertThat(heard.next()).isEqualTo("1000");
        assertThat(heard.status().getCode()).isEqualTo(Code.OK);
    }

    @Test
    void aServersStreamArrivesInOrder() {
        var answers = ClientCalls.blockingServerStreamingCall(channel, GrpcEcho.SPREAD, CallOptions.DEFAULT,
                new byte[]{100});

        List<Byte> seen = new ArrayList<>();
        answers.forEachRemaining(answer -> seen.add(answer[0]));
        assertThat(seen).hasSize(100).isSorted();
    }

    @Test
    void eachSideHearsTheOtherBeforeEitherEnds() throws Exception {
        GrpcHeard heard = new GrpcHeard();
        StreamObserver<byte[]> said = ClientCalls
                .asyncBidiStreamingCall(channel.newCall(GrpcEcho.CHAT, CallOptions.DEFAULT), heard);

        for (int i = 0; i < 20; i++) {
            said.onNext(bytes("word " + i));
            assertThat(heard.next()).isEqualTo("word " + i);
        }
        said.onCompleted();

        assertThat(heard.status().getCode()).isEqualTo(Code.OK);
    }

    @Test
    void aDeadlineEndsTheCallOnBothSides() throws Exception {
        GrpcHeard heard = new GrpcHeard();
        var _ = ClientCalls.asyncBidiStreamingCall(channel.newCall(GrpcEcho.SILENT,
                CallOptions.DEFAULT.withDeadlineAfter(500, TimeUnit.MILLISECONDS)), heard);

        assertThat(heard.status().getCode()).isEqualTo(Code.DEADLINE_EXCEEDED);
        assertThat(echo.awaitCancelled()).isEqualTo("silent");
    }

    @Test
    void aCancelReachesTheServer() throws Exception {
        GrpcHeard heard = new GrpcHeard();
        var said = (ClientCallStreamObserver<byte[]>) ClientCalls
                .asyncBidiStreamingCall(channel.newCall(GrpcEcho.CHAT, CallOptions.DEFAULT), heard);
        said.onNext(bytes("hi"));
        assertThat(heard.next()).isEqualTo("hi");

        said.cancel("enough", null);

        assertThat(echo.awaitCancelled()).isEqualTo("chat");
        assertThat(heard.status().getCode()).isEqualTo(Code.CANCELLED);
        assertThat(unary(channel, "still there")).isEqualTo("still there");
    }

    @ParameterizedTest
    @EnumSource(names = {"NOT_FOUND", "UNAVAILABLE", "RESOURCE_EXHAUSTED", "UNAUTHENTICATED"})
    void aStatusCrossesWithItsWordsAndMetadata(Code code) {
        StatusRuntimeException failed = catchThrowableOfType(StatusRuntimeException.class,
                () -> ClientCalls.blockingUnaryCall(channel, GrpcEcho.FAIL, CallOptions.DEFAULT,
                        new byte[]{(byte) code.value()}));

        assertThat(failed.getStatus().getCode()).isEqualTo(code);
        assertThat(failed.getStatus().getDescription()).isEqualTo("as asked: é%");
        assertThat(Objects.requireNonNull(failed.getTrailers()).get(GrpcEcho.DETAIL))
                .containsExactly(0, 1, 0xff);
    }

    @Test
    void metadataOf32KibCrossesBothWays() {
        Metadata metadata = new Metadata();
        String large = "x".repeat(32 << 10);
        metadata.put(GrpcEcho.ECHO, large);
        AtomicReference<Metadata> head = new AtomicReference<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();

        ClientCalls.blockingUnaryCall(
                ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(metadata),
                        MetadataUtils.newCaptureMetadataInterceptor(head, trailers)),
                GrpcEcho.UNARY, CallOptions.DEFAULT, bytes("a"));

        assertThat(head.get().get(GrpcEcho.ECHO)).isEqualTo(large);
    }

    @Test
    void callsToTwoRuntimesRunBesideEachOther() throws Exception {
        List<GrpcHeard> heard = new ArrayList<>();
        List<StreamObserver<byte[]>> said = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            GrpcHeard next = new GrpcHeard();
            heard.add(next);
            said.add(ClientCalls.asyncBidiStreamingCall((i % 2 == 0 ? channel : otherChannel)
                    .newCall(GrpcEcho.CHAT, CallOptions.DEFAULT), next));
        }

        for (int i = 0; i < 100; i++) {
            said.get(i).onNext(bytes("call " + i));
        }
        for (int i = 0; i < 100; i++) {
            assertThat(heard.get(i).next()).isEqualTo("call " + i);
        }
        said.forEach(StreamObserver::onCompleted);

        for (GrpcHeard each : heard) {
            assertThat(each.status().getCode()).isEqualTo(Code.OK);
        }
    }

    @Test
    void callsOfOneConnectionGoWhereTheirAuthoritySays() throws Exception {
        try (Http2Caller caller = new Http2Caller(platform.server.edgeAddress().port())) {
            for (String runtime : List.of("prod", "dev", "prod")) {
                var head = new DefaultHttp2Headers().method("POST")
                        .scheme("https")
                        .authority("acme-" + runtime + "." + Platform.DOMAIN)
                        .path("/test.Echo/Unary")
                        .add("content-type", "application/grpc")
                        .add("te", "trailers");
                try (Http2Caller.Stream call = caller.begin(head, false)) {
                    call.send(new byte[5]); // an empty message
                    call.end();
                    call.answered();
                    assertThat(new String(call.readAll(), StandardCharsets.ISO_8859_1))
                            .endsWith(runtime.equals("prod") ? "echo" : "other");
                }
            }
        }
    }

    @Test
    void aBalancerMaySpeakHttp2InTheClear(@TempDir Path own) throws Exception {
        try (Platform plain = Platform.start(own, usual -> Listeners.plainEdge(usual, "127.0.0.1"))) {
            plain.connect("acme", "prod", echo.uri("http"));
            ManagedChannel balancer = NettyChannelBuilder
                    .forAddress("127.0.0.1", plain.server.edgeAddress().port())
                    .overrideAuthority("acme-prod." + Platform.DOMAIN)
                    .usePlaintext()
                    .build();
            try {
                assertThat(unary(balancer, "in the clear")).isEqualTo("in the clear");
            } finally {
                balancer.shutdownNow();
            }
        }
    }

    /** {@code -Dculvert.grpc.bytes=1GiB} for more. */
    @Test
    void aLongStreamOfAClientIsNotBuffered() throws Exception {
        Flow flow = new Flow(BYTES);
        long start = System.nanoTime();
        var _ = ClientCalls
                .asyncClientStreamingCall(channel.newCall(GrpcEcho.COLLECT, CallOptions.DEFAULT), flow);
        long most = 0;
        while (flow.waitsFor(Duration.ofMillis(1))) {
            most = Math.max(most, platform.server.bufferedBytes() + client.bufferedBytes());
        }
        double seconds = (System.nanoTime() - start) / 1e9;

        assertThat(flow.answer()).isEqualTo(Long.toString(BYTES));
        System.out.printf("gRPC client stream: %d MiB in %.1f s, %.0f MiB/s; at most %d KiB buffered%n",
                BYTES >> 20, seconds, (BYTES >> 20) / seconds, most >> 10);
        assertThat(most).isPositive().isLessThan(2 << 20);
    }

    /** A client's stream of many messages, each sent when the transport has room for it. */
    private static final class Flow implements ClientResponseObserver<byte[], byte[]> {
        private final CompletableFuture<String> done = new CompletableFuture<>();
        private long left;

        Flow(long bytes) {
            left = bytes;
        }

        @Override
        public void beforeStart(ClientCallStreamObserver<byte[]> said) {
            said.setOnReadyHandler(() -> {
                while (left > 0 && said.isReady()) {
                    left -= MESSAGE;
                    said.onNext(new byte[MESSAGE]);
                    if (left <= 0) {
                        said.onCompleted();
                    }
                }
            });
        }

        @Override
        public void onNext(byte[] message) {
            done.complete(new String(message, StandardCharsets.UTF_8));
        }

        @Override
        public void onError(Throwable error) {
            done.completeExceptionally(error);
        }

        @Override
        public void onCompleted() {
            done.complete("no answer");
        }

        boolean waitsFor(Duration time) throws InterruptedException {
            try {
                var _ = done.get(time.toMillis(), TimeUnit.MILLISECONDS);
                return false;
            } catch (TimeoutException e) {
                return true;
            } catch (ExecutionException e) {
                return false;
            }
        }

        String answer() throws ExecutionException, InterruptedException {
            return done.get();
        }
    }
}
