#include "key_value/configuration_pushes.hpp"

#include <utility>

#include <reprise/base/byte_writer.hpp>
#include <reprise/sandbox/connection.hpp>
#include <reprise/wire/cluster_messages.hpp>

namespace reprise::sandbox::detail {

using wire::hello_feature;

bool configuration_pushes::is_subscribed() const noexcept {
    return conversation_.user &&
           (conversation_.has(hello_feature::clustermap_change_notification) ||
            conversation_.has(hello_feature::clustermap_change_notification_brief));
}

bool configuration_pushes::is_newer(
    const known_configuration& configuration,
    const configuration_progress& progress) const noexcept {
    return is_subscribed() && configuration.is_known() &&
           progress.announced < configuration.revision();
}

bool configuration_pushes::is_due() const noexcept {
    return is_newer(node_.global_configuration, conversation_.global_progress) ||
           (conversation_.local != nullptr &&
            is_newer(conversation_.local->configuration, conversation_.bucket_progress));
}

void configuration_pushes::push(
    const known_configuration& configuration, std::string_view bucket,
    configuration_progress& progress, std::vector<std::byte>& out) {
    if (!is_newer(configuration, progress)) {
        return;
    }
    progress.announced = configuration.revision();
    if (!conversation_.has(hello_feature::clustermap_change_notification_brief)) {
        progress.sent = configuration.revision();
    }
    write(configuration, bucket, out);
}

void configuration_pushes::write(
    const known_configuration& configuration, std::string_view bucket,
    std::vector<std::byte>& out) const {
    wire::cluster_map_change_notification message;
    message.epoch = configuration.revision().epoch;
    message.rev = configuration.revision().rev;
    message.bucket = bucket;
    if (!conversation_.has(hello_feature::clustermap_change_notification_brief)) {
        const bool is_corrupt = node_.disturbance.is_configuration_corrupt;
        const bool is_compressed =
            conversation_.has(hello_feature::snappy_everywhere) && !is_corrupt;
        const std::string_view text =
            is_corrupt ? corrupted(configuration.text()) : std::string_view(configuration.text());
        message.config =
            is_compressed ? base::byte_view(configuration.compressed()) : base::as_bytes(text);
        message.datatype = is_compressed ? wire::datatype::snappy : wire::datatype::raw;
        if (conversation_.has(hello_feature::json)) {
            message.datatype = message.datatype | wire::datatype::json;
        }
    }
    base::byte_writer writer(out);
    (void)message.encode(writer);
}

void configuration_pushes::send(std::vector<std::byte>& out) {
    if (!is_subscribed()) {
        return;
    }
    // A peer that reads slowly gets the newest configuration later instead of all of them.
    is_delayed_ = out.size() >= connection::push_pause_bytes;
    if (is_delayed_) {
        return;
    }
    const node_bucket* local = conversation_.local;
    const std::string_view bucket = local != nullptr
                                        ? std::string_view(conversation_.bucket->options.name)
                                        : std::string_view();
    if (std::exchange(is_replay_due_, false)) {
        const known_configuration older_global = node_.global_configuration.older();
        if (older_global.is_known()) {
            write(older_global, {}, out);
        }
        const known_configuration older =
            local != nullptr ? local->configuration.older() : known_configuration();
        if (older.is_known()) {
            write(older, bucket, out);
        }
    }
    if (local != nullptr) {
        push(local->configuration, bucket, conversation_.bucket_progress, out);
    }
    push(node_.global_configuration, {}, conversation_.global_progress, out);
}

}  // namespace reprise::sandbox::detail
