package dev.culvert.e2e;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A gRPC service of all four kinds of calls, in clear text on a free loopback port, with messages of plain bytes. */
final class GrpcEcho implements AutoCloseable {
    static final MethodDescriptor<byte[], byte[]> UNARY = method(MethodType.UNARY, "Unary");
    static final MethodDescriptor<byte[], byte[]> COLLECT = method(MethodType.CLIENT_STREAMING, "Collect");
    static final MethodDescriptor<byte[], byte[]> SPREAD = method(MethodType.SERVER_STREAMING, "Spread");
    static final MethodDescriptor<byte[], byte[]> CHAT = method(MethodType.BIDI_STREAMING, "Chat");
    /** Never answers. */
    static final MethodDescriptor<byte[], byte[]> SILENT = method(MethodType.BIDI_STREAMING, "Silent");
    /** Fails with the status whose number is the message. */
    static final MethodDescriptor<byte[], byte[]> FAIL = method(MethodType.UNARY, "Fail");
    /** Begins its answer with the first message, and resets the stream with CANCEL at the second. */
    static final MethodDescriptor<byte[], byte[]> CANCEL = method(MethodType.CLIENT_STREAMING, "Cancel");
    static final Metadata.Key<String> ECHO = Metadata.Key.of("x-echo", Metadata.ASCII_STRING_MARSHALLER);
    static final Metadata.Key<byte[]> DETAIL = Metadata.Key.of("x-detail-bin",
            Metadata.BINARY_BYTE_MARSHALLER);
    /** For large metadata. */
    private static final int MAX_METADATA = 72 << 10;

    private final Server server;
    final BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();

    GrpcEcho(String name) throws IOException {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                // grpc-java leaves what it had framed of a cancelled stream to the collector: not a leak of ours to report
                .withChildOption(ChannelOption.ALLOCATOR, new UnpooledByteBufAllocator(false, true))
                .addService(service(name))
                .intercept(new EchoedMetadata())
                .maxInboundMetadataSize(MAX_METADATA)
                .build()
                .start();
    }

    URI uri(String scheme) {
        return URI.create(scheme + "://127.0.0.1:" + server.getPort());
    }

    private ServerServiceDefinition service(String name) {
        return ServerServiceDefinition.builder("test.Echo")
                .addMethod(UNARY, ServerCalls.asyncUnaryCall((request, response) -> {
                    response.onNext(request.length == 0 ? name.getBytes(StandardCharsets.UTF_8) : request);
                    response.onCompleted();
                }))
                // Two answers are one too many: grpc-java cancels.
                .addMethod(CANCEL,
                        ServerCalls.asyncClientStreamingCall(response -> watched(response, "chat")))
                .addMethod(FAIL, ServerCalls.asyncUnaryCall((request, response) -> {
                    Metadata trailers = new Metadata();
                    trailers.put(DETAIL, new byte[]{0, 1, (byte) 0xff});
                    response.onError(Status.fromCodeValue(request[0])
                            .withDescription("as asked: é%")
                            .asRuntimeException(trailers));
                }))
                .addMethod(SPREAD, ServerCalls.asyncServerStreamingCall((request, response) -> {
                    for (byte i = 0; i < request[0]; i++) {
                        response.onNext(new byte[]{i});
                    }
                    response.onCompleted();
                }))
                .addMethod(COLLECT, ServerCalls.asyncClientStreamingCall(Sum::new))
                .addMethod(CHAT, ServerCalls.asyncBidiStreamingCall(response -> watched(response, "chat")))
                .addMethod(SILENT,
                        ServerCalls.asyncBidiStreamingCall(response -> watched(response, "silent")))
                .build();
    }

    /** Says back what is said to it; notes when it is cancelled. */
    private StreamObserver<byte[]> watched(StreamObserver<byte[]> response, String what) {
        ((ServerCallStreamObserver<byte[]>) response).setOnCancelHandler(() -> cancelled.add(what));
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] message) {
                if (what.equals("chat")) {
                    response.onNext(message);
                }
            }

            @Override
            public void onError(Throwable error) {
                // told by the cancel handler
            }

            @Override
            public void onCompleted() {
                response.onCompleted();
            }
        };
    }

    String awaitCancelled() throws InterruptedException {
        return String.valueOf(cancelled.poll(20, TimeUnit.SECONDS));
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    private static MethodDescriptor<byte[], byte[]> method(MethodType type, String name) {
        return MethodDescriptor.newBuilder(Bytes.INSTANCE, Bytes.INSTANCE)
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName("test.Echo", name))
                .build();
    }

    /** Counts the bytes of a client's stream. */
    private static final class Sum implements StreamObserver<byte[]> {
        private final StreamObserver<byte[]> response;
        private long bytes;

        Sum(StreamObserver<byte[]> response) {
            this.response = response;
        }

        @Override
        public void onNext(byte[] message) {
            bytes += message.length;
        }

        @Override
        public void onError(Throwable error) {
            // its caller is gone
        }

        @Override
        public void onCompleted() {
            response.onNext(Long.toString(bytes).getBytes(StandardCharsets.UTF_8));
            response.onCompleted();
        }
    }

    /** Sends a caller's metadata back, in the head. */
    private static final class EchoedMetadata implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata metadata,
                ServerCallHandler<Q, A> next) {
            String echoed = metadata.get(ECHO);
            return Contexts.interceptCall(Context.current(), new SimpleForwardingServerCall<>(call) {
                @Override
                public void sendHeaders(Metadata head) {
                    if (echoed != null) {
                        head.put(ECHO, echoed);
                    }
                    super.sendHeaders(head);
                }
            }, metadata, next);
        }
    }

    private enum Bytes implements Marshaller<byte[]> {
        INSTANCE;

        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
