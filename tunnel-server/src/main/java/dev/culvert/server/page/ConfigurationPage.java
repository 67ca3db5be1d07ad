package dev.culvert.server.page;

import dev.culvert.config.ConfigBinding;
import dev.culvert.web.FormFields;
import dev.culvert.web.PageAnswer;
import dev.culvert.web.PageRequest;
import dev.culvert.web.PageRoute;
import dev.culvert.web.Templates;
import java.util.List;
import java.util.Locale;
import reactor.core.publisher.Mono;

/** The configuration that this server was started with, and where each value comes from. */
final class ConfigurationPage {
    static final String PATH = "/configuration";
    private static final int MAX_SEARCH = 100;

    private final Templates templates;
    private final List<ConfigBinding.Effective> values;

    /** @param values the values in force, secrets masked; none where the server was started by a program */
    ConfigurationPage(Templates templates, List<ConfigBinding.Effective> values) {
        this.templates = templates;
        this.values = List.copyOf(values);
    }

    List<PageRoute> routes() {
        return List.of(PageRoute.get(PATH, this::show));
    }

    private Mono<PageAnswer> show(PageRequest request) {
        return Mono.fromSupplier(() -> {
            FormFields query = request.query();
            String text = query.text("q").strip();
            String search = text.length() > MAX_SEARCH ? text.substring(0, MAX_SEARCH) : text;
            boolean onlySet = query.text("set").equals("yes");
            List<ConfigurationList.Line> lines = values.stream()
                    .map(ConfigurationList.Line::of)
                    .filter(line -> line.contains(search.toLowerCase(Locale.ROOT)))
                    .filter(line -> !onlySet || line.isSet())
                    .toList();
            return PageAnswer.View.of("Configuration", PATH, templates.content("configuration.jte",
                    new ConfigurationList(lines, values.isEmpty(), search, onlySet)));
        });
    }
}
