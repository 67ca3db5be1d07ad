package dev.culvert.e2e;

import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** What a call answered. */
final class GrpcHeard implements StreamObserver<byte[]> {
    private static final int PATIENCE_SECONDS = 60;
    private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> status = new CompletableFuture<>();

    String next() throws InterruptedException {
        return String.valueOf(messages.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }

    boolean isOver() {
        return status.isDone();
    }

    Status status() throws Exception {
        return status.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void onNext(byte[] message) {
        messages.add(new String(message, StandardCharsets.UTF_8));
    }

    @Override
    public void onError(Throwable error) {
        status.complete(Status.fromThrowable(error));
    }

    @Override
    public void onCompleted() {
        status.complete(Status.OK);
    }
}
