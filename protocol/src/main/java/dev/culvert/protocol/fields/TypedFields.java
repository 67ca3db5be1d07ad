package dev.culvert.protocol.fields;

import io.netty.handler.codec.CharSequenceValueConverter;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** The methods of Netty's interface that convert values. They have no state and no meaning of their own. */
abstract class TypedFields implements Http2Headers {
    private static final CharSequenceValueConverter CONVERTER = CharSequenceValueConverter.INSTANCE;

    @Override
    public CharSequence get(CharSequence name, CharSequence otherwise) {
        CharSequence value = get(name);
        return value == null ? otherwise : value;
    }

    @Override
    public CharSequence getAndRemove(CharSequence name, CharSequence otherwise) {
        CharSequence value = getAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsObject(CharSequence name, Object value) {
        return contains(name, CONVERTER.convertObject(value));
    }

    @Override
    public Http2Headers addObject(CharSequence name, Object value) {
        return add(name, CONVERTER.convertObject(value));
    }

    @Override
    public Http2Headers addObject(CharSequence name, Iterable<?> values) {
        values.forEach(value -> addObject(name, value));
        return this;
    }

    @Override
    public Http2Headers addObject(CharSequence name, Object... values) {
        for (Object value : values) {
            addObject(name, value);
        }
        return this;
    }

    @Override
    public Http2Headers setObject(CharSequence name, Object value) {
        return set(name, CONVERTER.convertObject(value));
    }

    @Override
    public Http2Headers setObject(CharSequence name, Iterable<?> values) {
        remove(name);
        return addObject(name, values);
    }

    @Override
    public Http2Headers setObject(CharSequence name, Object... values) {
        remove(name);
        return addObject(name, values);
    }

    @Override
    public @Nullable Boolean getBoolean(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToBoolean(value);
    }

    @Override
    public boolean getBoolean(CharSequence name, boolean otherwise) {
        Boolean value = getBoolean(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Boolean getBooleanAndRemove(CharSequence name) {
        Boolean value = getBoolean(name);
        remove(name);
        return value;
    }

    @Override
    public boolean getBooleanAndRemove(CharSequence name, boolean otherwise) {
        Boolean value = getBooleanAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsBoolean(CharSequence name, boolean value) {
        return contains(name, CONVERTER.convertBoolean(value));
    }

    @Override
    public Http2Headers addBoolean(CharSequence name, boolean value) {
        return add(name, CONVERTER.convertBoolean(value));
    }

    @Override
    public Http2Headers setBoolean(CharSequence name, boolean value) {
        return set(name, CONVERTER.convertBoolean(value));
    }

    @Override
    public @Nullable Byte getByte(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToByte(value);
    }

    @Override
    public byte getByte(CharSequence name, byte otherwise) {
        Byte value = getByte(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Byte getByteAndRemove(CharSequence name) {
        Byte value = getByte(name);
        remove(name);
        return value;
    }

    @Override
    public byte getByteAndRemove(CharSequence name, byte otherwise) {
        Byte value = getByteAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsByte(CharSequence name, byte value) {
        return contains(name, CONVERTER.convertByte(value));
    }

    @Override
    public Http2Headers addByte(CharSequence name, byte value) {
        return add(name, CONVERTER.convertByte(value));
    }

    @Override
    public Http2Headers setByte(CharSequence name, byte value) {
        return set(name, CONVERTER.convertByte(value));
    }

    @Override
    public @Nullable Character getChar(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToChar(value);
    }

    @Override
    public char getChar(CharSequence name, char otherwise) {
        Character value = getChar(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Character getCharAndRemove(CharSequence name) {
        Character value = getChar(name);
        remove(name);
        return value;
    }

    @Override
    public char getCharAndRemove(CharSequence name, char otherwise) {
        Character value = getCharAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsChar(CharSequence name, char value) {
        return contains(name, CONVERTER.convertChar(value));
    }

    @Override
    public Http2Headers addChar(CharSequence name, char value) {
        return add(name, CONVERTER.convertChar(value));
    }

    @Override
    public Http2Headers setChar(CharSequence name, char value) {
        return set(name, CONVERTER.convertChar(value));
    }

    @Override
    public @Nullable Short getShort(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToShort(value);
    }

    @Override
    public short getShort(CharSequence name, short otherwise) {
        Short value = getShort(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Short getShortAndRemove(CharSequence name) {
        Short value = getShort(name);
        remove(name);
        return value;
    }

    @Override
    public short getShortAndRemove(CharSequence name, short otherwise) {
        Short value = getShortAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsShort(CharSequence name, short value) {
        return contains(name, CONVERTER.convertShort(value));
    }

    @Override
    public Http2Headers addShort(CharSequence name, short value) {
        return add(name, CONVERTER.convertShort(value));
    }

    @Override
    public Http2Headers setShort(CharSequence name, short value) {
        return set(name, CONVERTER.convertShort(value));
    }

    @Override
    public @Nullable Integer getInt(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToInt(value);
    }

    @Override
    public int getInt(CharSequence name, int otherwise) {
        Integer value = getInt(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Integer getIntAndRemove(CharSequence name) {
        Integer value = getInt(name);
        remove(name);
        return value;
    }

    @Override
    public int getIntAndRemove(CharSequence name, int otherwise) {
        Integer value = getIntAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsInt(CharSequence name, int value) {
        return contains(name, CONVERTER.convertInt(value));
    }

    @Override
    public Http2Headers addInt(CharSequence name, int value) {
        return add(name, CONVERTER.convertInt(value));
    }

    @Override
    public Http2Headers setInt(CharSequence name, int value) {
        return set(name, CONVERTER.convertInt(value));
    }

    @Override
    public @Nullable Long getLong(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToLong(value);
    }

    @Override
    public long getLong(CharSequence name, long otherwise) {
        Long value = getLong(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Long getLongAndRemove(CharSequence name) {
        Long value = getLong(name);
        remove(name);
        return value;
    }

    @Override
    public long getLongAndRemove(CharSequence name, long otherwise) {
        Long value = getLongAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsLong(CharSequence name, long value) {
        return contains(name, CONVERTER.convertLong(value));
    }

    @Override
    public Http2Headers addLong(CharSequence name, long value) {
        return add(name, CONVERTER.convertLong(value));
    }

    @Override
    public Http2Headers setLong(CharSequence name, long value) {
        return set(name, CONVERTER.convertLong(value));
    }

    @Override
    public @Nullable Float getFloat(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToFloat(value);
    }

    @Override
    public float getFloat(CharSequence name, float otherwise) {
        Float value = getFloat(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Float getFloatAndRemove(CharSequence name) {
        Float value = getFloat(name);
        remove(name);
        return value;
    }

    @Override
    public float getFloatAndRemove(CharSequence name, float otherwise) {
        Float value = getFloatAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsFloat(CharSequence name, float value) {
        return contains(name, CONVERTER.convertFloat(value));
    }

    @Override
    public Http2Headers addFloat(CharSequence name, float value) {
        return add(name, CONVERTER.convertFloat(value));
    }

    @Override
    public Http2Headers setFloat(CharSequence name, float value) {
        return set(name, CONVERTER.convertFloat(value));
    }

    @Override
    public @Nullable Double getDouble(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToDouble(value);
    }

    @Override
    public double getDouble(CharSequence name, double otherwise) {
        Double value = getDouble(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Double getDoubleAndRemove(CharSequence name) {
        Double value = getDouble(name);
        remove(name);
        return value;
    }

    @Override
    public double getDoubleAndRemove(CharSequence name, double otherwise) {
        Double value = getDoubleAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsDouble(CharSequence name, double value) {
        return contains(name, CONVERTER.convertDouble(value));
    }

    @Override
    public Http2Headers addDouble(CharSequence name, double value) {
        return add(name, CONVERTER.convertDouble(value));
    }

    @Override
    public Http2Headers setDouble(CharSequence name, double value) {
        return set(name, CONVERTER.convertDouble(value));
    }

    @Override
    public @Nullable Long getTimeMillis(CharSequence name) {
        CharSequence value = get(name);
        return value == null ? null : CONVERTER.convertToTimeMillis(value);
    }

    @Override
    public long getTimeMillis(CharSequence name, long otherwise) {
        Long value = getTimeMillis(name);
        return value == null ? otherwise : value;
    }

    @Override
    public @Nullable Long getTimeMillisAndRemove(CharSequence name) {
        Long value = getTimeMillis(name);
        remove(name);
        return value;
    }

    @Override
    public long getTimeMillisAndRemove(CharSequence name, long otherwise) {
        Long value = getTimeMillisAndRemove(name);
        return value == null ? otherwise : value;
    }

    @Override
    public boolean containsTimeMillis(CharSequence name, long value) {
        return contains(name, CONVERTER.convertTimeMillis(value));
    }

    @Override
    public Http2Headers addTimeMillis(CharSequence name, long value) {
        return add(name, CONVERTER.convertTimeMillis(value));
    }

    @Override
    public Http2Headers setTimeMillis(CharSequence name, long value) {
        return set(name, CONVERTER.convertTimeMillis(value));
    }
}
