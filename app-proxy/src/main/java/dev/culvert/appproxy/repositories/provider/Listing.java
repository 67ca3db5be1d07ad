package dev.culvert.appproxy.repositories.provider;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Cuts a provider's list into pages of the caller's size, whatever sizes the provider supports. No repository
 * is listed twice or left out, as long as the provider's own order is stable. Callable from any thread.
 */
public final class Listing {
    /** The maximum number of parts that are read in sequence to find the start of a page. */
    static final int MAX_WALK = 200;
    static final int MAX_PLACES = 10_000;

    private final ProviderApi api;
    private final ProviderApi.Paging paging;
    /** The starts of pages as reported by the provider, for each user and page size. */
    private final Cache<Place, String> places = Caffeine.newBuilder()
            .maximumSize(MAX_PLACES)
            .expireAfterWrite(Duration.ofMinutes(10))
            .executor(Runnable::run)
            .build();
    /** The largest part that the provider has returned so far. */
    private volatile int maxPart;

    public Listing(ProviderApi api) {
        this.api = api;
        this.paging = api.paging();
        this.maxPart = paging.max();
    }

    public Mono<RepositoriesPage> page(GitToken token, int page, int limit) {
        if (!paging.numbered()) {
            return walked(token, page, limit);
        }
        return paging.mayGiveLess() || limit > paging.max()
                ? numbered(token, page, limit)
                : same(token, page, limit);
    }

    /**
     * Returns the provider's page unchanged, even if it is short: GitHub leaves out repositories that an
     * organisation hides from the token.
     */
    private Mono<RepositoriesPage> same(GitToken token, int page, int limit) {
        return api.part(token, String.valueOf(page), limit)
                .map(part -> new RepositoriesPage(part.items(), page, part.items().size(),
                        part.next() != null));
    }

    private Mono<RepositoriesPage> numbered(GitToken token, int page, int limit) {
        return Mono.defer(() -> {
            int size = Math.min(limit, maxPart);
            long offset = (page - 1L) * limit;
            var gathered = new Gathered(page, limit, Math.toIntExact(offset % size), size, new ArrayList<>());
            return gather(token, gathered, String.valueOf(offset / size + 1));
        });
    }

    private Mono<RepositoriesPage> gather(GitToken token, Gathered gathered, String from) {
        return api.part(token, from, gathered.size).flatMap(part -> {
            int items = part.items().size();
            String next = part.next();
            if (next != null && items > 0 && items < gathered.size) {
                maxPart = items; // the operator allows smaller pages: cut again
                return numbered(token, gathered.page, gathered.limit);
            }
            gathered.items.addAll(part.items());
            boolean enough = gathered.items.size() >= gathered.skip + gathered.limit;
            return next == null || enough || items == 0
                    ? Mono.just(gathered.cut(next != null))
                    : gather(token, gathered, next);
        });
    }

    private record Gathered(int page, int limit, int skip, int size, List<Repository> items) {
        RepositoriesPage cut(boolean more) {
            int from = Math.min(skip, items.size());
            int to = Math.min(skip + limit, items.size());
            return new RepositoriesPage(items.subList(from, to), page, to - from, more || to < items.size());
        }
    }

    private Mono<RepositoriesPage> walked(GitToken token, int page, int limit) {
        return Mono.defer(() -> {
            int known = page;
            while (known > 1 && places.getIfPresent(new Place(token.fingerprint(), limit, known)) == null) {
                known--;
            }
            if (page - known > MAX_WALK) {
                return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                        "page: this provider's pages can only be read in sequence"));
            }
            String from = known == 1
                    ? null
                    : places.getIfPresent(new Place(token.fingerprint(), limit, known));
            return walk(token, from == null ? "" : from, from == null ? 1 : known, page, limit);
        });
    }

    private Mono<RepositoriesPage> walk(GitToken token, String from, int at, int page, int limit) {
        return api.part(token, from, limit).flatMap(part -> {
            String next = part.next();
            if (next != null) {
                places.put(new Place(token.fingerprint(), limit, at + 1), next);
            }
            if (at == page) {
                return Mono.just(
                        new RepositoriesPage(part.items(), page, part.items().size(), next != null));
            }
            return next == null
                    ? Mono.just(new RepositoriesPage(List.of(), page, 0, false))
                    : walk(token, next, at + 1, page, limit);
        });
    }

    private record Place(String token, int limit, int page) {}
}
