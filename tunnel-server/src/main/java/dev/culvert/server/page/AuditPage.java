package dev.culvert.server.page;

import dev.culvert.server.store.AuditStore;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import java.util.List;
import reactor.core.publisher.Mono;

/** Who changed what, when. */
final class AuditPage {
    static final String PATH = "/audit";
    private static final int PAGE = 50;

    private final Templates templates;
    private final AuditStore store;

    AuditPage(Templates templates, AuditStore store) {
        this.templates = templates;
        this.store = store;
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get(PATH, this::show));
    }

    private Mono<PageAnswer> show(PageRequest request) {
        long from = from(request.query().text("next"));
        return store.page(from, PAGE)
                .map(page -> PageAnswer.View.of("Audit log", PATH, templates.content("audit.jte",
                        new AuditList(page.entries(), from > 0,
                                page.next() == 0 ? "" : PATH + "?next=" + page.next()))));
    }

    /** Where the page before ended; 0 for anything else. */
    private static long from(String next) {
        try {
            return Math.max(0, Long.parseLong(next));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
