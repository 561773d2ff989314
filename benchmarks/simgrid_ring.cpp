// The peer of benchmarks/collectives.py: a ring all-reduce in SimGrid (S4U actors, fluid model CM02 without TCP's
// effects), each rank at its own pace. Every host has a cable to one switch; a cable is a link each way.
// Arguments: ranks, bytes, bytes/s of a cable each way, seconds of latency of a message, a rank, how late it comes.
// Standard output: processor seconds to set up, processor seconds to simulate, and when each rank is done.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

static std::vector<sg4::Mailbox*> inbox;
static std::vector<double> ends;

static void rank(int r, int n, double chunk, double late)
{
  static int word;
  sg4::this_actor::sleep_for(late);
  auto* next = inbox[(r + 1) % n];
  for (int step = 0; step < 2 * (n - 1); step++) {
    int* from_left = nullptr;
    auto sent      = next->put_async(&word, static_cast<uint64_t>(chunk));
    auto received  = inbox[r]->get_async<int>(&from_left);
    sent->wait();
    received->wait();
  }
  ends[r] = sg4::Engine::get_clock();
}

int main(int argc, char** argv)
{
  auto since = [](clock_t t) { return static_cast<double>(clock() - t) / CLOCKS_PER_SEC; };
  auto begun = clock();
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config("network/crosstraffic:0");
  const int n            = std::atoi(argv[1]);
  const double size      = std::atof(argv[2]);
  const double bandwidth = std::atof(argv[3]);
  const double latency   = std::atof(argv[4]);
  const int who          = std::atoi(argv[5]);
  const double late      = std::atof(argv[6]);
  auto* zone             = sg4::create_star_zone("switch");
  for (int r = 0; r < n; r++) {
    auto name  = std::to_string(r);
    auto* host = zone->create_host("h" + name, 1e9);
    auto* up   = zone->create_link("u" + name, bandwidth)->set_latency(latency / 2)->seal();
    auto* down = zone->create_link("d" + name, bandwidth)->set_latency(latency / 2)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg4::LinkInRoute(up)}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(down)}, false);
  }
  zone->seal();
  ends.resize(n);
  for (int r = 0; r < n; r++)
    inbox.push_back(sg4::Mailbox::by_name(std::to_string(r)));
  for (int r = 0; r < n; r++)
    sg4::Actor::create("rank" + std::to_string(r), engine.host_by_name("h" + std::to_string(r)), rank, r, n, size / n,
                       r == who ? late : 0.0);
  double setup = since(begun);
  begun        = clock();
  engine.run();
  std::printf("%.9g %.9g\n", setup, since(begun));
  for (double t : ends)
    std::printf("%.17g\n", t);
}
