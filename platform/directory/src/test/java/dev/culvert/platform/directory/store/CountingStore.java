package dev.culvert.platform.directory.store;

import dev.culvert.platform.host.spi.Store;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/** A store that counts what it is asked for. */
record CountingStore(Store store, AtomicLong reads, AtomicLong changes) implements Store {
    @Override
    public <T> Mono<T> read(Work<T> work) {
        return Mono.defer(() -> {
            reads.incrementAndGet();
            return store.read(work);
        });
    }

    @Override
    public <T> Mono<T> change(Work<T> work) {
        return Mono.defer(() -> {
            changes.incrementAndGet();
            return store.change(work);
        });
    }

    @Override
    public <T> Mono<T> change(String account, Work<T> work) {
        return Mono.defer(() -> {
            changes.incrementAndGet();
            return store.change(account, work);
        });
    }
}
