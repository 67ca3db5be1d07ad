/** The web pages for operators: what they show, and the actions, which are calls of the admin API. */
@NullMarked
package dev.culvert.server.page;

import org.jspecify.annotations.NullMarked;
