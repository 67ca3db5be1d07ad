package dev.culvert.appproxy.repositories.provider;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.credentials.GitToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ListingTest {
    private static final GitToken TOKEN = new GitToken("ada", "secret");

    /** As GitHub, where an organisation hides every third repository from the token once the page is cut. */
    @Test
    void shortPagesRepeatNothingAndMakeNoOtherPageShorter() {
        var api = new Hiding(10, 3);
        var listing = new Listing(api);
        var names = new ArrayList<String>();

        RepositoriesPage page;
        int number = 0;
        do {
            page = Objects.requireNonNull(listing.page(TOKEN, ++number, 4).block());
            page.data().forEach(repository -> names.add(repository.fullName()));
        } while (page.hasNext());

        assertThat(names).containsExactly("1", "2", "4", "5", "7", "8", "10");
        assertThat(api.asked).containsExactly("1/4", "2/4", "3/4");
    }

    @Test
    void aProviderThatAlwaysPromisesMoreIsNotAskedForever() {
        var api = new Hiding(Integer.MAX_VALUE, 1) {
            @Override
            public Paging paging() {
                return new Paging(100, true, true);
            }
        };

        RepositoriesPage page = Objects.requireNonNull(new Listing(api).page(TOKEN, 1, 4).block());

        assertThat(page.data()).isEmpty();
        assertThat(api.asked).hasSize(1);
    }

    /** Repositories 1 to {@code count}, without each that {@code hidden} divides. */
    private static class Hiding implements ProviderApi {
        final List<String> asked = new ArrayList<>();
        private final int count;
        private final int hidden;

        Hiding(int count, int hidden) {
            this.count = count;
            this.hidden = hidden;
        }

        @Override
        public Paging paging() {
            return new Paging(100, true, false);
        }

        @Override
        public Mono<Part> part(GitToken token, String from, int size) {
            asked.add(from + "/" + size);
            var items = new ArrayList<Repository>();
            int page = Integer.parseInt(from);
            for (int i = (page - 1) * size + 1; i <= Math.min(count, page * size); i++) {
                if (i % hidden != 0) {
                    items.add(repository(String.valueOf(i)));
                }
            }
            @Nullable
            String next = page * size < count ? String.valueOf(page + 1) : null;
            return Mono.just(new Part(items, next));
        }

        @Override
        public Mono<GitUser> user(GitToken token) {
            return Mono.empty();
        }

        @Override
        public Mono<PullRequest> createPullRequest(GitToken token, NewPullRequest request) {
            return Mono.empty();
        }

        private static Repository repository(String name) {
            return new Repository(name, "GITHUB", name, "https://git.test/" + name + ".git", null, null, true,
                    false, null);
        }
    }
}
