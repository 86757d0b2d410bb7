#include <reprise/couchbase/collection.hpp>

namespace reprise::couchbase {

using detail::make_call;
using detail::operation_kind;
using detail::run_call;

std::expected<get_result, error> collection::get(std::string_view key) const {
    return run_call<get_result>(target_, make_call(operation_kind::get, key, common_options{}));
}

std::expected<get_result, error> collection::get(
    std::string_view key, const get_options& options) const {
    return detail::run_get(target_, detail::make_get(key, options));
}

std::expected<get_result, error> collection::get_and_touch(
    std::string_view key, couchbase::expiry expiry, const get_and_touch_options& options) const {
    auto call = make_call(operation_kind::get_and_touch, key, options);
    set_expiry(call, expiry);
    return run_call<get_result>(target_, std::move(call));
}

std::expected<get_result, error> collection::get_and_lock(
    std::string_view key, std::chrono::seconds lock_time,
    const get_and_lock_options& options) const {
    auto call = make_call(operation_kind::get_and_lock, key, options);
    set_lock_time(call, lock_time);
    return run_call<get_result>(target_, std::move(call));
}

std::expected<get_replica_result, error> collection::get_any_replica(
    std::string_view key, const get_replica_options& options) const {
    return run_call<get_replica_result>(target_, make_call(operation_kind::get, key, options));
}

std::expected<std::vector<get_replica_result>, error> collection::get_all_replicas(
    std::string_view key, const get_replica_options& options) const {
    return run_call<detail::replica_list>(target_, make_call(operation_kind::get, key, options));
}

std::expected<exists_result, error> collection::exists(
    std::string_view key, const exists_options& options) const {
    return run_call<exists_result>(target_, make_call(operation_kind::exists, key, options));
}

std::expected<void, error> collection::unlock(
    std::string_view key, cas lock, const unlock_options& options) const {
    auto call = make_call(operation_kind::unlock, key, options);
    call.cas = lock.value;
    return run_call<void>(target_, std::move(call));
}

std::expected<mutation_result, error> collection::touch(
    std::string_view key, couchbase::expiry expiry, const touch_options& options) const {
    auto call = make_call(operation_kind::touch, key, options);
    set_expiry(call, expiry);
    return run_call<mutation_result>(target_, std::move(call));
}

std::expected<mutation_result, error> collection::store(
    detail::document_call call, const encoded_value& value) const {
    set_value(call, value);
    return run_call<mutation_result>(target_, std::move(call));
}

std::expected<mutation_result, error> collection::remove(
    std::string_view key, const remove_options& options) const {
    return run_call<mutation_result>(target_, make_call(operation_kind::remove, key, options));
}

std::expected<mutation_result, error> collection::append(
    std::string_view key, std::span<const std::byte> bytes, const append_options& options) const {
    auto call = make_call(operation_kind::append, key, options);
    call.value = bytes;
    return run_call<mutation_result>(target_, std::move(call));
}

std::expected<mutation_result, error> collection::prepend(
    std::string_view key, std::span<const std::byte> bytes, const prepend_options& options) const {
    auto call = make_call(operation_kind::prepend, key, options);
    call.value = bytes;
    return run_call<mutation_result>(target_, std::move(call));
}

std::expected<counter_result, error> collection::increment(
    std::string_view key, const counter_options& options) const {
    return run_call<counter_result>(target_, make_call(operation_kind::increment, key, options));
}

std::expected<counter_result, error> collection::decrement(
    std::string_view key, const counter_options& options) const {
    return run_call<counter_result>(target_, make_call(operation_kind::decrement, key, options));
}

std::expected<lookup_in_result, error> collection::lookup_in(
    std::string_view key, std::vector<lookup_spec> specs, const lookup_in_options& options) const {
    return run_call<lookup_in_result>(
        target_, make_call(operation_kind::lookup_in, key, options, std::move(specs)));
}

std::expected<lookup_in_replica_result, error> collection::lookup_in_any_replica(
    std::string_view key, std::vector<lookup_spec> specs,
    const lookup_in_replica_options& options) const {
    return run_call<lookup_in_replica_result>(
        target_, make_call(operation_kind::lookup_in, key, options, std::move(specs)));
}

std::expected<std::vector<lookup_in_replica_result>, error> collection::lookup_in_all_replicas(
    std::string_view key, std::vector<lookup_spec> specs,
    const lookup_in_replica_options& options) const {
    return run_call<detail::lookup_replica_list>(
        target_, make_call(operation_kind::lookup_in, key, options, std::move(specs)));
}

std::expected<mutate_in_result, error> collection::mutate_in(
    std::string_view key, std::vector<mutate_spec> specs, const mutate_in_options& options) const {
    return run_call<mutate_in_result>(
        target_, make_call(operation_kind::mutate_in, key, options, std::move(specs)));
}

}  // namespace reprise::couchbase
