package dev.culvert.appproxy.repositories.provider;

import java.util.List;

/**
 * One page of repositories.
 *
 * @param data the repositories
 * @param page which page this is, from 1
 * @param count how many are in {@code data}
 * @param hasNext whether a further page has more
 */
public record RepositoriesPage(List<Repository> data, int page, int count, boolean hasNext) {
    public RepositoriesPage {
        data = List.copyOf(data);
    }
}
