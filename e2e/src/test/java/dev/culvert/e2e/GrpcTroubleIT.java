package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.culvert.relay.quota.CallerLimits;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** gRPC calls that fail on the way, or say nothing for long: what grpc-java makes of it. */
class GrpcTroubleIT {
    @TempDir
    static Path folder;

    private static Platform platform;
    private static GrpcEcho echo;
    private static ManagedChannel channel;

    @BeforeAll
    static void start() throws Exception {
        platform = Platform.start(folder);
        echo = new GrpcEcho("echo");
        platform.connect("acme", "prod", echo.uri("http"));
        channel = GrpcIT.channel(platform, "acme-prod");
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        platform.close();
        echo.close();
    }

    /** grpc-java makes CANCELLED of it. */
    @Test
    void anUpstreamsCancelCrosses() throws Exception {
        var head = new DefaultHttp2Headers().method("POST")
                .scheme("https")
                .authority("acme-prod." + Platform.DOMAIN)
                .path("/" + GrpcEcho.CANCEL.getFullMethodName())
                .add("content-type", "application/grpc")
                .add("te", "trailers");
        try (Http2Caller caller = new Http2Caller(platform.server.edgeAddress().port());
                Http2Caller.Stream call = caller.begin(head, false)) {
            // Two empty messages at once: grpc-java holds the head of a single answer back until something else leaves.
            call.send(new byte[10]);

            assertThat(call.answered().status()).isEqualTo("200");
            assertThatThrownBy(call::readAll).hasMessage("reset: code " + Http2Error.CANCEL.code());
        }
    }

    @Test
    void aCallWhoseTunnelIsLostIsUnavailable() throws Exception {
        platform.connect("acme", "lost", echo.uri("http"));
        ManagedChannel lost = GrpcIT.channel(platform, "acme-lost");
        try {
            GrpcHeard heard = new GrpcHeard();
            StreamObserver<byte[]> said = ClientCalls
                    .asyncBidiStreamingCall(lost.newCall(GrpcEcho.CHAT, CallOptions.DEFAULT), heard);
            said.onNext(GrpcIT.bytes("hi"));
            assertThat(heard.next()).isEqualTo("hi");

            platform.revokeRuntime("acme", "lost");

            Status status = heard.status();
            assertThat(status.getCode()).isEqualTo(Code.UNAVAILABLE);
            assertThat(status.getDescription()).isNotBlank();
        } finally {
            lost.shutdownNow();
        }
        assertThat(echo.awaitCancelled()).isEqualTo("chat");
    }

    @Test
    void aSilentCallIsNotCut(@TempDir Path own) throws Exception {
        Duration silence = Duration.ofMillis(300);
        CallerLimits limits = CallerLimits.defaults().within(silence, silence, silence, silence);
        try (Platform strict = Platform.start(own, limits)) {
            strict.connect("acme", "prod", echo.uri("http"));
            ManagedChannel quiet = GrpcIT.channel(strict, "acme-prod");
            try {
                GrpcHeard heard = new GrpcHeard();
                StreamObserver<byte[]> said = ClientCalls
                        .asyncBidiStreamingCall(quiet.newCall(GrpcEcho.CHAT, CallOptions.DEFAULT), heard);
                said.onNext(GrpcIT.bytes("one"));
                assertThat(heard.next()).isEqualTo("one");

                await().during(silence.multipliedBy(4)).until(() -> !heard.isOver());
                said.onNext(GrpcIT.bytes("two"));

                assertThat(heard.next()).isEqualTo("two");
                said.onCompleted();
                assertThat(heard.status().getCode()).isEqualTo(Code.OK);
            } finally {
                quiet.shutdownNow();
            }
        }
    }

    @Test
    void aRuntimeThatIsNotThereIsUnimplementedAndARefusingUpstreamUnavailable() throws Exception {
        ManagedChannel nobody = GrpcIT.channel(platform, "acme-nobody");
        try {
            StatusRuntimeException failed = catchThrowableOfType(StatusRuntimeException.class,
                    () -> GrpcIT.unary(nobody, "x"));
            assertThat(failed.getStatus().getCode()).isEqualTo(Code.UNIMPLEMENTED);
        } finally {
            nobody.shutdownNow();
        }
        platform.connect("acme", "down", URI.create("http://127.0.0.1:1"));
        ManagedChannel down = GrpcIT.channel(platform, "acme-down");
        try {
            StatusRuntimeException failed = catchThrowableOfType(StatusRuntimeException.class,
                    () -> GrpcIT.unary(down, "x"));
            assertThat(failed.getStatus().getCode()).isEqualTo(Code.UNAVAILABLE);
        } finally {
            down.shutdownNow();
        }
    }
}
