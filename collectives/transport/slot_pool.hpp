#pragma once

/// The requests of a transport that are outstanding.

#include <deque>
#include <vector>

#include "collectives/transport/transport.hpp"

namespace hbench {

/// Slots that are used again and keep their addresses; a request is the number of one. A slot that is taken again holds
/// what it held before.
template <class Slot>
class SlotPool {
 public:
  using Request = Transport::Request;

  Request take() {
    if (free_.empty()) {
      free_.push_back(places_.size());
      places_.emplace_back();
    }
    const Request request = free_.back();
    free_.pop_back();
    places_[request].taken = true;
    return request;
  }
  void give_back(Request request) {
    places_[request].taken = false;
    free_.push_back(request);
  }
  Slot& operator[](Request request) { return places_[request].slot; }
  /// The requests that were not given back.
  std::vector<Request> taken() const {
    std::vector<Request> all;
    for (Request request = 0; request < places_.size(); ++request)
      if (places_[request].taken) all.push_back(request);
    return all;
  }

 private:
  struct Place {
    Slot slot;
    bool taken = false;
  };
  std::deque<Place> places_;
  std::vector<Request> free_;
};

}  // namespace hbench
