/** The pages of requests: the list that goes on by itself, one request by hops, and what problems mean. */
@NullMarked
package dev.culvert.server.page.request;

import org.jspecify.annotations.NullMarked;
