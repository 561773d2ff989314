// The peer of benchmarks/topology.py: flows on given paths in SimGrid (S4U, fluid model CM02 without TCP's effects).
// Standard input: flows, links, hosts; a capacity for each link; for each flow source, target, bytes, hops, its links.
// Standard output: processor seconds to set up, and to simulate, then when each flow ends.
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

struct Flow {
  int source, target;
  double bytes;
};

static std::vector<sg4::Host*> hosts;
static std::vector<Flow> flows;
static std::vector<double> ends;

static void all_at_once()
{
  std::vector<sg4::CommPtr> open;
  for (auto const& f : flows) {
    auto comm = sg4::Comm::sendto_init(hosts[f.source], hosts[f.target]);
    comm->set_payload_size(f.bytes);
    comm->start();
    open.push_back(comm);
  }
  for (size_t i = 0; i < open.size(); i++) {
    open[i]->wait();
    ends[i] = open[i]->get_finish_time();
  }
}

int main(int argc, char** argv)
{
  auto since = [](clock_t t) { return static_cast<double>(clock() - t) / CLOCKS_PER_SEC; };
  auto begun = clock();
  sg4::Engine engine(&argc, argv);
  sg4::Engine::set_config("network/model:CM02");
  sg4::Engine::set_config("network/TCP-gamma:0");
  sg4::Engine::set_config("network/crosstraffic:0");
  sg4::Engine::set_config("maxmin/precision:1e-9");
  int count, links, ends_of;
  std::cin >> count >> links >> ends_of;
  auto* zone = sg4::create_full_zone("net");
  for (int h = 0; h < ends_of; h++)
    hosts.push_back(zone->create_host("h" + std::to_string(h), 1e9));
  std::vector<const sg4::Link*> link;
  for (int e = 0; e < links; e++) {
    double capacity;
    std::cin >> capacity;
    link.push_back(zone->create_link("l" + std::to_string(e), capacity)->set_latency(0)->seal());
  }
  for (int i = 0; i < count; i++) {
    Flow f;
    int hops, e;
    std::cin >> f.source >> f.target >> f.bytes >> hops;
    std::vector<sg4::LinkInRoute> route;
    for (int j = 0; j < hops; j++) {
      std::cin >> e;
      route.emplace_back(link[e]);
    }
    zone->add_route(hosts[f.source]->get_netpoint(), hosts[f.target]->get_netpoint(), nullptr, nullptr, route, false);
    flows.push_back(f);
  }
  zone->seal();
  ends.resize(flows.size());
  sg4::Actor::create("all", hosts[0], all_at_once);
  double setup = since(begun);
  begun = clock();
  engine.run();
  std::printf("%.9g %.9g\n", setup, since(begun));
  for (double t : ends)
    std::printf("%.17g\n", t);
}
