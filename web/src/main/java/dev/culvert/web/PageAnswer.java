package dev.culvert.web;

import dev.culvert.handlers.spi.EdgeResponse;
import gg.jte.Content;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/** The answer of a page or of an action. */
public sealed interface PageAnswer {
    /**
     * A page in the layout.
     *
     * @param status the status
     * @param title its title, without the product's name
     * @param section the path of the entry of the navigation that it belongs to
     * @param body its content
     * @param path where the person returns to it; null: the path of the request, of an action its section
     */
    record View(HttpResponseStatus status, String title, String section, Content body, @Nullable String path)
            implements
                PageAnswer {
        /** A page with the status 200. */
        public static View of(String title, String section, Content body) {
            return new View(HttpResponseStatus.OK, title, section, body, null);
        }

        /** This page with another status. */
        public View status(HttpResponseStatus other) {
            return new View(other, title, section, body, path);
        }

        /** This page, to which a person returns by a path: the answer of an action has none of its own. */
        public View at(String other) {
            return new View(status, title, section, body, other);
        }
    }

    /** Leads to another page of this site. {@code said} is shown there once, as what was done. */
    record Redirect(String location, String said) implements PageAnswer {
        public static Redirect to(String location) {
            return new Redirect(location, "");
        }
    }

    /** Any other response. */
    record Raw(EdgeResponse.Http response) implements PageAnswer {}
}
