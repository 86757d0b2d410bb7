#include <utility>

#include <reprise/engine/client_engine.hpp>

#include "engine_core.hpp"

namespace reprise::engine {

client_engine::client_engine(
    engine_options options, credentials identity, randomness random, time_point now)
    : core_(std::make_unique<engine_core>(
          std::make_shared<client_state>(std::move(options), std::move(identity)),
          std::move(random), now)) {}

client_engine::client_engine(another_loop of, randomness random, time_point now)
    : core_(std::make_unique<engine_core>(of.first.core_->client(), std::move(random), now)) {}

client_engine::~client_engine() = default;

keyspace_id client_engine::keyspace(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    return core_->keyspace(bucket, scope, collection);
}

void client_engine::open(std::string_view bucket, time_point now) {
    core_->open(bucket, now);
}

operation_id client_engine::start(operation_request&& request, completion&& done, time_point now) {
    return core_->start(std::move(request), std::move(done), now);
}

operation_id client_engine::start(
    keyspace_id where, document_call&& call, completion&& done, time_point now) {
    return core_->start(where, std::move(call), std::move(done), now);
}

operation_id client_engine::start_http(http_request&& request, completion&& done, time_point now) {
    return core_->start_http(std::move(request), std::move(done), now);
}

bool client_engine::take_rows(operation_id operation, row_batch& out, time_point now) {
    return core_->take_rows(operation, out, now);
}

bool client_engine::cancel(operation_id operation, time_point now) {
    return core_->cancel(operation, now);
}

void client_engine::close(time_point now) {
    core_->close(now);
}

void client_engine::replace_credentials(credentials identity) {
    core_->replace_credentials(std::move(identity));
}

std::size_t client_engine::drain_completions() {
    return core_->ended().drain();
}

bool client_engine::has_completions() const noexcept {
    return !core_->ended().empty();
}

void client_engine::on_connected(connection_id connection, std::string_view peer, time_point now) {
    core_->on_connected(connection, peer, now);
}

void client_engine::on_connect_failed(
    connection_id connection, connect_failure failure, std::string_view text, time_point now) {
    core_->on_connect_failed(connection, failure, text, now);
}

void client_engine::on_bytes(connection_id connection, base::byte_view bytes, time_point now) {
    core_->on_bytes(connection, nullptr, bytes, now);
}

void client_engine::on_bytes(
    connection_id connection, const base::block_ref& owner, base::byte_view bytes, time_point now) {
    core_->on_bytes(connection, &owner, bytes, now);
}

read_place client_engine::place_to_read(connection_id connection) const noexcept {
    return core_->place_to_read(connection);
}

void client_engine::on_written(connection_id connection, std::size_t size, time_point now) {
    core_->on_written(connection, size, now);
}

void client_engine::on_closed(
    connection_id connection, close_reason reason, std::size_t unwritten_size, time_point now) {
    core_->on_closed(connection, reason, unwritten_size, now);
}

void client_engine::on_resolved(
    resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now) {
    core_->on_resolved(resolution, found, now);
}

void client_engine::on_key_derived(derivation_id derivation, std::string key, time_point now) {
    core_->on_key_derived(derivation, std::move(key), now);
}

void client_engine::on_time(time_point now) {
    core_->on_time(now);
}

void client_engine::on_wake(time_point now) {
    core_->on_wake(now);
}

bool client_engine::has_work() const noexcept {
    return core_->has_work();
}

void client_engine::take_actions(action_list& out) {
    core_->take_actions(out);
}

base::byte_views client_engine::begin_write(connection_id connection, time_point now) {
    return core_->begin_write(connection, now);
}

std::optional<time_point> client_engine::next_due() const noexcept {
    return core_->next_due();
}

bool client_engine::waits_until(time_point time) const noexcept {
    return core_->waits_until(time);
}

void client_engine::set_wake_hook(std::function<void()> hook) {
    core_->set_wake_hook(std::move(hook));
}

std::size_t client_engine::open_count() const noexcept {
    return core_->open_count();
}

engine_statistics client_engine::statistics() const noexcept {
    return core_->statistics();
}

const wire::cluster_configuration_ptr& client_engine::configuration(
    std::string_view bucket) const noexcept {
    return core_->configuration(bucket);
}

std::vector<service_address> client_engine::service_addresses(std::string_view bucket) const {
    return core_->service_addresses(bucket);
}

engine_diagnostics client_engine::diagnostics() const {
    return core_->diagnostics();
}

}  // namespace reprise::engine
