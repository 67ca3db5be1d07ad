/**
 * The App-Proxy: the agent in the cluster that serves the platform's clients, a host for handlers. Read
 * {@link dev.culvert.appproxy.AppProxy} first, then {@code GitHandler} for the largest of its handlers.
 */
@NullMarked
package dev.culvert.appproxy;

import org.jspecify.annotations.NullMarked;
