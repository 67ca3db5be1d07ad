package dev.culvert.appproxy.repositories.provider;

import java.util.List;

/**
 * One page of repositories.
 *
 * @param data the repositories
 * @param page the page's number, from 1
 * @param count the size of {@code data}
 * @param hasNext whether another page follows
 */
public record RepositoriesPage(List<Repository> data, int page, int count, boolean hasNext) {
    public RepositoriesPage {
        data = List.copyOf(data);
    }
}
