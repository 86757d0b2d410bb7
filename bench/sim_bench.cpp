// How many operations per second one core simulates, with the whole client and the whole cluster,
// and which part of the program uses the time. Prints one JSON object.
//
//     sim_bench [SECONDS]      processor time for each profile; the default is 3

#include <dlfcn.h>
#include <sys/time.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sim/simulation.hpp>

namespace {

using reprise::sim::profile;
using reprise::sim::run_report;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Samples the program's location every millisecond. The addresses become names afterwards.
class sampler {
public:
    void start() {
        count_ = 0;
        struct sigaction action{};
        action.sa_sigaction = &on_signal;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaction(SIGPROF, &action, nullptr);
        set_timer(1000);
    }
    void stop() { set_timer(0); }

    // The share of the samples in percent, by part of the program.
    [[nodiscard]] static std::map<std::string, double> shares() {
        std::map<std::string, double> result;
        for (std::size_t index = 0; index < count_; ++index) {
            result[part_at(places_[index])] += 100.0 / static_cast<double>(count_);
        }
        return result;
    }

private:
    static void on_signal(int, siginfo_t*, void* context) {
        const auto* where = static_cast<const ucontext_t*>(context);
        const std::size_t place = count_;
        if (place < places_.size()) {
#if defined(__x86_64__)
            places_[place] = static_cast<std::uintptr_t>(where->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
            places_[place] = static_cast<std::uintptr_t>(where->uc_mcontext.pc);
#else
            static_cast<void>(where);
#endif
            count_ = place + 1;
        }
    }
    static void set_timer(suseconds_t every_us) {
        itimerval every{};
        every.it_interval.tv_usec = every_us;
        every.it_value.tv_usec = every_us;
        setitimer(ITIMER_PROF, &every, nullptr);
    }

    // Takes the library from the namespace in the mangled name: "...7reprise6engine..." is
    // "engine". Distinguishes the parts of the simulator by class. Functions without a name of
    // their own count with the function before them, which is in the same source.
    static std::string part_at(std::uintptr_t place) {
        Dl_info found{};
        // NOLINTNEXTLINE(performance-no-int-to-ptr): it is an address of code.
        if (dladdr(reinterpret_cast<void*>(place), &found) == 0) {
            return "other";
        }
        const std::string_view file = found.dli_fname;
        if (file.find("libcrypto") != file.npos) {
            return "libcrypto";
        }
        if (file.find(".so") != file.npos) {
            return "memory and other system libraries";
        }
        if (found.dli_sname == nullptr) {
            return "other";
        }
        constexpr std::string_view home = "7reprise";
        std::string_view name = found.dli_sname;
        const auto begin = name.find(home);
        if (begin == name.npos) {
            return "other";
        }
        name.remove_prefix(begin + home.size());
        const std::string_view library = leading_name(name);
        if (library != "sim") {
            return std::string(library);
        }
        const std::string_view part = leading_name(name);
        const bool is_checking = part == "inspection" || name.find("10inspection") != name.npos;
        return is_checking ? "sim: checkers" : "sim: network, clock and clients";
    }
    // Removes "6engine" from the front and returns "engine". Returns an empty name if there is no
    // number.
    static std::string_view leading_name(std::string_view& from) {
        std::size_t size = 0;
        while (!from.empty() && from.front() >= '0' && from.front() <= '9') {
            size = size * 10 + static_cast<std::size_t>(from.front() - '0');
            from.remove_prefix(1);
        }
        size = std::min(size, from.size());
        const std::string_view name = from.substr(0, size);
        from.remove_prefix(size);
        return name;
    }

    static inline std::array<std::uintptr_t, 65536> places_{};
    // Lock-free, because a signal handler increments it.
    static inline std::atomic<std::size_t> count_ = 0;
};

struct measurement {
    std::uint64_t runs = 0;
    std::uint64_t operations = 0;
    std::uint64_t events = 0;
    std::uint64_t findings = 0;
    double seconds = 0;
    std::map<std::string, double> shares;
};

measurement measure(const profile& from, double seconds) {
    measurement result;
    sampler places;
    places.start();
    const double begin = cpu_seconds();
    while (result.seconds < seconds) {
        const run_report report =
            reprise::sim::run_scenario(reprise::sim::random_scenario(++result.runs, from));
        result.operations += report.operations;
        result.events += report.events;
        result.findings += report.findings.size();
        result.seconds = cpu_seconds() - begin;
    }
    places.stop();
    result.shares = sampler::shares();
    return result;
}

void print(std::string_view name, const measurement& of, bool is_last) {
    const auto operations = static_cast<double>(of.operations);
    std::printf(
        "  \"%.*s\": {\"ops_per_second\": %.0f, \"runs\": %llu, \"operations\": %llu,\n"
        "    \"cpu_seconds\": %.3f, \"events_per_op\": %.2f, \"findings\": %llu,\n"
        "    \"percent_of_time\": {",
        static_cast<int>(name.size()), name.data(), operations / of.seconds,
        static_cast<unsigned long long>(of.runs), static_cast<unsigned long long>(of.operations),
        of.seconds, static_cast<double>(of.events) / operations,
        static_cast<unsigned long long>(of.findings));
    std::vector<std::pair<double, std::string>> parts;
    for (const auto& [part, share] : of.shares) {
        parts.emplace_back(share, part);
    }
    std::ranges::sort(parts, std::greater{});
    const char* before = "";
    for (const auto& [share, part] : parts) {
        std::printf("%s\"%s\": %.1f", before, part.c_str(), share);
        before = ", ";
    }
    std::printf("}}%s\n", is_last ? "" : ",");
}

}  // namespace

int main(int count, char** arguments) {
    const double seconds = count > 1 ? std::atof(arguments[1]) : 3.0;
    constexpr std::array<std::string_view, 2> measured{"bench", "swarm"};
    std::printf("{\n");
    for (const std::string_view name : measured) {
        const profile* from = reprise::sim::find_profile(name);
        if (from == nullptr || seconds <= 0) {
            return 2;
        }
        print(name, measure(*from, seconds), name == measured.back());
    }
    std::printf("}\n");
    return 0;
}
