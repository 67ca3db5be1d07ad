package dev.culvert.appproxy.argo.api;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;

/**
 * A response's body of fabric8's HTTP client as a stream with demand: the next chunk is requested on demand,
 * so a stalled reader stalls the sender. At most two chunks are buffered. Cancelling closes the exchange.
 */
final class ApiBodyStream implements AsyncBody.Consumer<List<ByteBuffer>> {
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile @Nullable AsyncBody body;
    private volatile @Nullable FluxSink<byte[]> sink;

    private ApiBodyStream() {}

    /**
     * The head of a response.
     *
     * @param body its bytes; must be subscribed exactly once
     */
    record Answer(int status, Flux<byte[]> body) {}

    /**
     * Sends a request. Cancelling before the head drops the answer when it comes. Errors are those of the
     * client.
     */
    static Mono<Answer> send(HttpClient http, HttpRequest request) {
        return Mono.create(head -> {
            var stream = new ApiBodyStream();
            var gone = new AtomicBoolean();
            head.onDispose(() -> gone.set(true));
            var _ = http.consumeBytes(request, stream).whenComplete((response, failure) -> {
                if (response == null) {
                    head.error(failure instanceof CompletionException && failure.getCause() != null
                            ? failure.getCause()
                            : failure);
                } else if (gone.get()) {
                    response.body().cancel();
                } else {
                    head.success(stream.answer(response));
                }
            });
        });
    }

    private Answer answer(HttpResponse<AsyncBody> response) {
        AsyncBody received = response.body();
        body = received;
        return new Answer(response.code(), Flux.create(target -> {
            sink = target;
            var _ = received.done().whenComplete((nothing, failure) -> {
                if (failure == null) {
                    target.complete();
                } else {
                    target.error(failure);
                }
            });
            target.onDispose(received::cancel);
            target.onRequest(wanted -> ask());
        }));
    }

    @Override
    public void consume(List<ByteBuffer> chunk, AsyncBody source) {
        FluxSink<byte[]> target = sink;
        asked.set(false);
        if (target != null) {
            target.next(bytes(chunk));
        }
        ask();
    }

    private void ask() {
        FluxSink<byte[]> target = sink;
        AsyncBody source = body;
        if (target != null && source != null && target.requestedFromDownstream() > 0
                && asked.compareAndSet(false, true)) {
            source.consume();
        }
    }

    private static byte[] bytes(List<ByteBuffer> chunk) {
        byte[] bytes = new byte[chunk.stream().mapToInt(ByteBuffer::remaining).sum()];
        ByteBuffer all = ByteBuffer.wrap(bytes);
        chunk.forEach(all::put);
        return bytes;
    }
}
