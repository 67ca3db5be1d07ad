package dev.culvert.handlers.host;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Keeps a handler's code on its own threads when it uses a service. Results of the service are delivered on
 * these threads, and publishers that the handler passes to the service are subscribed on them. The service
 * itself may emit on event loops.
 */
final class ServiceThreads {
    private ServiceThreads() {}

    /** Wraps a service for one handler. A service that is not an interface is returned unchanged. */
    static <S> S around(Class<S> type, S service, Scheduler threads) {
        if (!type.isInterface()) {
            return service;
        }
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, (self, method, given) -> {
                    try {
                        return answered(method.invoke(service, inside(given, threads)), threads);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                }));
    }

    private static @Nullable Object @Nullable [] inside(@Nullable Object @Nullable [] given,
            Scheduler threads) {
        return given == null
                ? null
                : Arrays.stream(given)
                        .map(each -> each instanceof Mono<?> work ? work.subscribeOn(threads) : each)
                        .toArray();
    }

    private static @Nullable Object answered(@Nullable Object answer, Scheduler threads) {
        return switch (answer) {
            case Mono<?> one -> one.publishOn(threads);
            case Flux<?> many -> many.publishOn(threads);
            case null, default -> answer;
        };
    }
}
