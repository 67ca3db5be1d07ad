/** Git providers and their REST APIs. */
@NullMarked
package dev.culvert.appproxy.repositories.provider;

import org.jspecify.annotations.NullMarked;
